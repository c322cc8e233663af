import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import type { ToolContext } from '../../lib/tools/common/tool.js';
import { type Bench, bench, resultOf, runnerOn } from '../support/tool-runner.js';

/** Whether this system lets bubblewrap make namespaces. Where it does not, the specs below show that nothing runs. */
const works = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', '--', 'true']).status === 0;

let place: Bench;
beforeEach(() => {
  place = bench({ sandbox: { network: false, hidden: [] } });
});
const others: Bench[] = [];
const servers: Server[] = [];
afterEach(() => {
  for (const bench of [place, ...others.splice(0)]) bench.remove();
  for (const server of servers.splice(0)) server.close();
});

function another(context: Partial<ToolContext>): Bench {
  const made = bench(context);
  others.push(made);
  return made;
}

const file = (name: string) => join(place.folder, name);

async function run(command: string, on: Bench = place): Promise<JsonObject> {
  const done = await runnerOn(on, { allowAll: true }).one('bash', { command });
  return done.error === undefined ? resultOf(done) : { error: done.error };
}

/** The result where bubblewrap works; elsewhere that it was refused. */
async function expectInSandbox(command: string, result: JsonObject, on?: Bench): Promise<void> {
  expect(await run(command, on)).toEqual(
    works ? expect.objectContaining(result) : { error: expect.stringContaining('bubblewrap cannot be used here') },
  );
}

describe(`the sandbox (${works ? 'bubblewrap works here' : 'bubblewrap does not work here: refusals only'})`, () => {
  it('lets a command write in the working folder, and keeps that folder', async () => {
    mkdirSync(file('sub'));
    await expectInSandbox('echo a > x && cd sub && pwd', {
      stdout: `${file('sub')}\n`,
      exit_code: 0,
      working_folder: file('sub'),
    });
    expect(existsSync(file('x'))).toBe(works);
  });

  it('lets it write nowhere else', async () => {
    const outside = join(dirname(place.folder), 'outside');
    mkdirSync(outside);
    const command = `for path in ${outside} /usr /etc ~; do echo a > $path/hi-sandbox-spec 2>/dev/null && echo wrote $path; done; true`;
    await expectInSandbox(command, { stdout: '', exit_code: 0 });
  });

  it('filters system calls', async () => {
    await expectInSandbox("grep '^Seccomp:' /proc/self/status", { stdout: 'Seccomp:\t2\n' });
  });

  it('provides a separate temporary folder', async () => {
    await expectInSandbox('echo a > /tmp/hi-sandbox-spec && ls /tmp/hi-sandbox-spec && cd /tmp', {
      stdout: '/tmp/hi-sandbox-spec\n',
    });
    expect(existsSync('/tmp/hi-sandbox-spec')).toBe(false);
    await expectInSandbox('pwd', { exit_code: 0 });
  });

  it('hides private places, and those of hi', async () => {
    const secret = join(dirname(place.folder), 'secret');
    mkdirSync(secret);
    writeFileSync(join(secret, 'config.json'), 'hunter2');
    writeFileSync(join(dirname(place.folder), 'key'), 'hunter2');
    const closed = another({
      sandbox: { network: false, hidden: [secret, join(dirname(place.folder), 'key')] },
    });
    await expectInSandbox(`cat ${secret}/config.json ${secret}/../key`, { stdout: '' }, closed);
  });

  it('protects what git or hooks run later outside of it', async () => {
    mkdirSync(file('.git/hooks'), { recursive: true });
    writeFileSync(file('.git/config'), '[core]');
    await expectInSandbox(
      'echo evil > .git/config; echo evil > .git/hooks/pre-commit; echo evil > .git/commondir; echo a > .git/index; echo end',
      { stdout: 'end\n' },
    );
    expect([readFileSync(file('.git/config'), 'utf8'), existsSync(file('.git/hooks/pre-commit'))]).toEqual([
      '[core]',
      false,
    ]);
  });

  it('prevents a new repository', async () => {
    await expectInSandbox('mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; ls -A .git', { stdout: '' });
    expect(existsSync(file('.git'))).toBe(false);
  });

  it('prevents replacing a repository', async () => {
    mkdirSync(file('.git'));
    writeFileSync(file('.git/config'), '[core]');
    await expectInSandbox('mv .git away; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit; ls -A .', {
      stdout: '.git\n',
    });
    expect(existsSync(file('.git/hooks/pre-commit'))).toBe(false);
    const tree = another({ sandbox: { network: false, hidden: [] } });
    writeFileSync(join(tree.folder, '.git'), 'gitdir: elsewhere');
    await expectInSandbox('echo gitdir: evil > .git; rm .git; cat .git', { stdout: 'gitdir: elsewhere' }, tree);
  });

  it('protects a repository elsewhere in the project, and its hooks', async () => {
    mkdirSync(file('deep/repository/hooks'), { recursive: true });
    mkdirSync(file('tools/hooks'), { recursive: true });
    writeFileSync(file('.git'), 'gitdir: deep/repository\n');
    writeFileSync(file('deep/repository/config'), '[core]\n\thooksPath = tools/hooks\n');
    const put = (folder: string) => `mkdir -p ${folder}; echo evil > ${folder}/pre-commit`;
    await expectInSandbox(
      `${put('deep/repository/hooks')}; mv deep away; ${put('deep/repository/hooks')}; ${put('tools/hooks')}; mv tools gone; ${put('tools/hooks')}; ls -A .`,
      { stdout: '.git\ndeep\ntools\n' },
    );
    for (const folder of ['deep/repository/hooks', 'tools/hooks'])
      expect(existsSync(file(`${folder}/pre-commit`))).toBe(false);
  });

  it.each(['hooks', 'config'])('protects what .git/%s leads to', async (name) => {
    mkdirSync(file('.git'));
    mkdirSync(file('real'));
    writeFileSync(file('real/x'), '');
    symlinkSync(file(name === 'config' ? 'real/x' : 'real'), file(`.git/${name}`));
    await expectInSandbox('echo evil > real/x; true', { exit_code: 0 });
    expect(readFileSync(file('real/x'), 'utf8')).toBe('');
  });

  it.each(['.git', '.husky'])(
    'refuses to run anything where %s is a link, which a command could replace',
    async (path) => {
      mkdirSync(file('real'));
      symlinkSync(file('real'), file(path));
      expect(await run('true')).toEqual({ error: expect.stringContaining(`cannot protect '${file(path)}'`) });
    },
  );

  it('protects the kernel, whoever runs the command', async () => {
    const path = '/proc/sys/kernel/core_pattern';
    await expectInSandbox(
      `cat ${path} > before; cat before > ${path} && echo wrote; [ -w ${path} ] && echo open; true`,
      {
        stdout: '',
      },
    );
  });

  it('denies network access unless it is allowed', async () => {
    const server = createServer((socket) => socket.end('hello'));
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const command = `cat < /dev/tcp/127.0.0.1/${port}`;
    await expectInSandbox(command, { stdout: '', exit_code: 1 });
    await expectInSandbox(
      command,
      { stdout: 'hello', exit_code: 0 },
      another({ sandbox: { network: true, hidden: [] } }),
    );
  });

  it('hides other processes, and with them environments that contain keys', async () => {
    await expectInSandbox(
      'ls /proc | grep -c "^[0-9]*$" | grep -q "^[1-9]$" && echo few; cat /proc/*/environ | grep -c JEST_WORKER_ID= > count; true',
      { stdout: 'few\n' },
    );
  });

  it('ends background processes with the command', async () => {
    await expectInSandbox('(sleep 0.5; touch later) & echo started', { stdout: 'started\n', exit_code: 0 });
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(existsSync(file('later'))).toBe(false);
  });

  it('reports to model and user what it renamed', async () => {
    const { call, run: runCalls } = runnerOn(place, { allowAll: true });
    const { events, results } = await runCalls([call('bash', { command: 'echo evil > .envrc' })]);
    if (!works) return expect(results[0]?.error).toContain('bubblewrap cannot be used here');
    const text = `Other programs would run what the command left here, or a rule forbids it, so it was renamed: ${file('.envrc.set-aside-1')}.`;
    expect(resultOf(results[0] as never).note).toBe(`${text} The user can approve such a command.`);
    expect(events.at(-1)).toEqual({ type: 'notice', level: 'warning', text });
  });

  it('ends a command at its time limit', async () => {
    const short = another({ sandbox: { network: false, hidden: [] }, timeout: 300 });
    await expectInSandbox("trap '' TERM; while :; do sleep 1; done", { exit_code: 124, timed_out: true }, short);
  });

  it('refuses to run anything if the working folder is the root of the file system', async () => {
    const everything = { ...place, context: { ...place.context, cwd: { start: '/', now: '/' } } };
    expect(await run('true', everything)).toEqual({
      error: expect.stringContaining('the working folder is the root of the file system'),
    });
  });
});
