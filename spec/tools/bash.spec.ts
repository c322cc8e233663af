import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SecretStream, secretMask } from '../../lib/permission/secrets.js';
import { bash } from '../../lib/tools/bash.js';
import type { DeferredOutput, RunnerServices, ToolContext } from '../../lib/tools/common/tool.js';
import { type Bench, bench, resultOf, runnerOn } from '../support/tool-runner.js';

let place: Bench;
beforeEach(() => {
  place = bench();
});
afterEach(() => place.remove());

const file = (name: string) => join(place.folder, name);
const run = (
  command: string,
  settings: Partial<Bench['context']> = {},
  emit: (output: string | DeferredOutput) => void = () => {},
  signal = new AbortController().signal,
) => {
  Object.assign(place.context, settings);
  return bash.run({ command }, place.context, emit, signal, { file: null, confined: null });
};

async function until(holds: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 200 && !holds(); tries += 1) await sleep(10);
  return holds();
}

const pidIn = (name: string): number => Number(readFileSync(file(name), 'utf8'));

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('bash', () => {
  it('returns output, errors and exit code', async () => {
    expect(await run('echo out; echo err >&2; exit 3')).toEqual({ stdout: 'out\n', stderr: 'err\n', exit_code: 3 });
    expect(await run('true')).toEqual({ stdout: '', stderr: '', exit_code: 0 });
  });

  it('runs what bash understands, line by line as at a prompt', async () => {
    const command = '# a comment\nname="it\'s"\nif [[ $name == it* ]]; then cat <<END\n$name\nEND\nfi';
    expect(await run(command)).toEqual({ stdout: "it's\n", stderr: '', exit_code: 0 });
    expect(await run('echo "unterminated')).toMatchObject({
      exit_code: 2,
      stderr: expect.stringContaining('unexpected EOF'),
    });
    expect((await run('nosuchprogram')).exit_code).toBe(127);
  });

  it('reports a signal like a shell', async () => {
    expect(await run('kill -KILL $$')).toEqual({ stdout: '', stderr: '', exit_code: 137, signal: 'SIGKILL' });
  });

  it('keeps the working folder between calls, and reports changes', async () => {
    mkdirSync(file('a/b'), { recursive: true });
    expect(await run('cd a')).toEqual({ stdout: '', stderr: '', exit_code: 0, working_folder: file('a') });
    expect((await run('cd b && exit 1')).working_folder).toBe(file('a/b'));
    expect((await run('pwd')).stdout).toBe(`${file('a/b')}\n`);
    expect((await run('(cd /); true')).working_folder).toBeUndefined();
    expect(place.context.cwd.now).toBe(realpathSync(file('a/b')));
  });

  it('keeps the last known folder if a command never says where it ended', async () => {
    expect((await run('cd /; exec true')).exit_code).toBe(0);
    expect((await run('cd /; kill -KILL $$')).exit_code).toBe(137);
    expect(place.context.cwd.now).toBe(place.folder);
  });

  it('starts again at the root if its folder is gone', async () => {
    mkdirSync(file('gone'));
    await run('cd gone');
    rmSync(file('gone'), { recursive: true });
    await expect(run('pwd')).rejects.toThrow(`The working folder '${file('gone')}' no longer exists.`);
    expect((await run('pwd')).stdout).toBe(`${place.folder}\n`);
  });

  it('has no terminal and no input', async () => {
    const look = 'cat; tty; (echo x > /dev/tty) 2>&1; test -t 0 || test -t 1 || test -t 2 || echo none';
    const { stdout } = await run(look);
    expect(stdout).toContain('not a tty');
    expect(stdout).toContain('No such device or address');
    expect(stdout).toContain('none');
  });

  it('refuses a command with a NUL and one too long for the system', async () => {
    await expect(run('echo \0')).rejects.toThrow('cannot contain a NUL');
    await expect(run(`echo ${'x'.repeat(3_000_000)}`)).rejects.toThrow('The command is too long.');
  });

  it('streams output while the command runs', async () => {
    const { runner, call } = runnerOn(place, { allowAll: true });
    const seen: string[] = [];
    const running = runner.run(
      [call('bash', { command: 'echo first; while [ ! -e go ]; do sleep 0.02; done; echo second' })],
      new AbortController().signal,
    );
    for await (const event of running) {
      if (event.type !== 'tool-output') continue;
      seen.push(event.text);
      writeFileSync(file('go'), '');
    }
    expect(seen).toEqual(['first\n', 'second\n']);
  });
});

describe('a command that does not end', () => {
  it('is ended at its time limit, with its output so far', async () => {
    const result = await run('echo begun; sleep 60', { timeout: 300 });
    expect(result).toEqual({
      stdout: 'begun\n',
      stderr: '',
      exit_code: 124,
      timed_out: true,
      note: 'Timed out after 0.3 s.',
    });
  });

  it('is killed with its whole group if it ignores SIGTERM', async () => {
    const command =
      "trap '' INT TERM HUP; (trap '' TERM; echo $BASHPID > child; while :; do sleep 1; done) & echo $$ > parent; wait; while :; do sleep 1; done";
    expect(await run(command, { timeout: 300 })).toMatchObject({ exit_code: 124, timed_out: true });
    expect([isAlive(pidIn('parent')), isAlive(pidIn('child'))]).toEqual([false, false]);
  });

  it('ends at once when it is interrupted', async () => {
    const stop = new AbortController();
    const running = run('echo $$ > pid; sleep 60', {}, () => {}, stop.signal);
    await until(() => existsSync(file('pid')) && pidIn('pid') > 0);
    stop.abort();
    await running;
    expect(isAlive(pidIn('pid'))).toBe(false);
  });

  it('does not start if it was interrupted before', async () => {
    const { run: runCalls, call } = runnerOn(place, { allowAll: true });
    const { results } = await runCalls([call('bash', { command: 'touch ran' })], AbortSignal.abort());
    expect([results[0]?.error, existsSync(file('ran'))]).toEqual(['interrupted', false]);
  });
});

describe('a command that left more files in the sandbox than can be checked', () => {
  it('is reported to model and user', async () => {
    const warnings: string[] = [];
    const confined = {
      ...{ wrapper: [], filter: null, env: {}, grant: { write: true, network: false, read: [], files: [] } },
      isNeverWritten: false,
      finish: async () => ({ renamed: [], isComplete: false }),
    };
    const runner: RunnerServices = {
      fitOutput: (text) => text,
      giveFile: (mime) => mime,
      maskStream: () => new SecretStream(secretMask([]), [], true),
      atTurnEnd: () => {},
      warn: (text) => void warnings.push(text),
      asked: () => {},
    };
    const context = { ...place.context, runner };
    const signal = new AbortController().signal;
    const { note } = await bash.run({ command: 'true' }, context, () => {}, signal, { file: null, confined });
    expect(note).toBe(
      'The command left more files than hi checks. Other programs may run some of them (.git, .envrc, .vscode).',
    );
    expect(warnings).toEqual([note]);
  });
});

describe('a background process of a command', () => {
  it('does not keep the command from ending, and runs until the turn ends', async () => {
    const { one, runner } = runnerOn(place, { allowAll: true });
    const { result } = await one('bash', {
      command: 'while :; do echo still; sleep 0.02; done & echo $! > pid; echo started',
    });
    expect(result).toMatchObject({ stdout: expect.stringContaining('started'), exit_code: 0 });
    expect(isAlive(pidIn('pid'))).toBe(true);
    await runner.endTurn();
    expect(isAlive(pidIn('pid'))).toBe(false);
  });

  it('is ended with the turn even if it forked into its own session', async () => {
    const { one, runner } = runnerOn(place, { allowAll: true });
    await one('bash', {
      command:
        'setsid bash -c \'trap "" TERM HUP; echo $$ > pid; while :; do sleep 0.1; done\' > /dev/null 2>&1 & disown; until [ -s pid ]; do sleep 0.01; done',
    });
    const pid = pidIn('pid');
    expect(isAlive(pid)).toBe(true);
    await runner.endTurn();
    expect(isAlive(pid)).toBe(false);
  });

  it('is ended at once if nobody reports the end of the turn', async () => {
    await run('sleep 60 & echo $! > pid');
    expect(isAlive(pidIn('pid'))).toBe(false);
  });

  it('leaves other commands of the turn alone', async () => {
    const { one, runner } = runnerOn(place, { allowAll: true });
    await one('bash', { command: 'sleep 60 & echo $! > pid' });
    await one('bash', { command: 'exit 1' });
    expect(isAlive(pidIn('pid'))).toBe(true);
    await runner.endTurn();
    expect(isAlive(pidIn('pid'))).toBe(false);
  });
});

describe('the environment of a command', () => {
  const KEYS = {
    HI_API_KEY: 'a1b2c3d4',
    OPENAI_API_KEY: 'a1b2c3d4',
    ANTHROPIC_API_KEY: 'a1b2c3d4',
    GEMINI_API_KEY: 'a1b2c3d4',
    GOOGLE_API_KEY: 'a1b2c3d4',
    MISTRAL_API_KEY: 'a1b2c3d4',
    GITHUB_TOKEN: 'a1b2c3d4',
    AWS_SECRET_ACCESS_KEY: 'a1b2c3d4',
    AWS_ACCESS_KEY_ID: 'a1b2c3d4',
    DB_PASSWORD: 'a1b2c3d4',
    NPM_CONFIG__AUTH: 'a1b2c3d4',
    my_api_key: 'a1b2c3d4',
    STRIPE_KEY: 'a1b2c3d4',
    npm_config__authToken: 'a1b2c3d4',
    ORDINARY: 'x-from-the-configuration-x',
    SHAPED: 'sk-ant-a1b2c3d4',
    DATABASE_URL: 'postgres://me:a1b2c3d4@127.0.0.1/db',
    ...Object.fromEntries(
      'PGPASSWORD MYSQL_PWD SSHPASS SECRET_KEY_BASE AZURE_STORAGE_CONNECTION_STRING DOCKER_AUTH_CONFIG OPENAI_API_KEY_2 GITHUB_TOKEN_OLD JWT CREDENTIALS_JSON PRIVATE_KEY_PEM REDIS_URL'
        .split(' ')
        .map((name) => [name, 'a1b2c3d4']),
    ),
  };

  async function environmentOf(env: object, options: Partial<ToolContext> = {}): Promise<string> {
    place = { ...place, context: { ...place.context, env: { ...process.env, ...env }, ...options } };
    const { one } = runnerOn(place, { allowAll: true, secrets: ['from-the-configuration'] });
    return String(resultOf(await one('bash', { command: 'env; echo PATH=$PATH' })).stdout);
  }

  it('has the usual variables and no others', async () => {
    const env = await environmentOf({ ...KEYS, EDITOR: 'vi', LC_TIME: 'C', XDG_DATA_HOME: '/x', TOKENIZER: 'fast' });
    for (const name of [...Object.keys(KEYS), 'TOKENIZER']) expect(env).not.toContain(`${name}=`);
    expect(env).not.toMatch(/a1b2c3d4|from-the-configuration/);
    expect(env).toContain(`PATH=${process.env.PATH}\n`);
    for (const line of ['EDITOR=vi', 'LC_TIME=C', 'XDG_DATA_HOME=/x', 'TERM=dumb']) expect(env).toContain(`${line}\n`);
  });

  it('has what the configuration names, but never a key of hi or what changes how bash parses', async () => {
    const variables = ['PGPASSWORD', 'ORDINARY', 'BASH_ENV'];
    const env = await environmentOf({ ...KEYS, PGPASSWORD: 'a1b2c3d4', BASH_ENV: '/x' }, { variables });
    expect(env).toContain('PGPASSWORD=a1b2c3d4\n');
    expect(env).not.toMatch(/^(ORDINARY|BASH_ENV)=/m);
  });

  it('has no URL with credentials', async () => {
    const logins = { HTTPS_PROXY: 'http://me:a1b2c3d4@h', http_proxy: 'redis://:a1b2c3d4@h', NO_PROXY: 'h' };
    const env = await environmentOf(logins);
    expect(env).not.toContain('a1b2c3d4');
    expect(env).toContain('NO_PROXY=h\n');
  });

  it("is the user's own for a command of the user's own", async () => {
    const env = await environmentOf({ TOKENIZER: 'fast', PGPASSWORD: 'a1b2c3d4' }, { variables: 'all' });
    for (const line of ['TOKENIZER=fast', 'PGPASSWORD=a1b2c3d4']) expect(env).toContain(`${line}\n`);
  });

  it('keeps its paths if the key is a placeholder word that occurs in one', async () => {
    const env = { ...process.env, PLACE: '/opt/local/x', OWN: 'local' };
    place = { ...place, context: { ...place.context, env, variables: ['PLACE', 'OWN'] } };
    const { one } = runnerOn(place, { allowAll: true, secrets: ['local'] });
    expect(resultOf(await one('bash', { command: 'echo "$PLACE$OWN"' })).stdout).toBe('/opt/local/x\n');
  });

  it('has nothing that changes what bash runs', async () => {
    writeFileSync(file('rc'), 'echo rc ran; export OPENAI_API_KEY=a1b2c3d4');
    const env = {
      ...process.env,
      BASH_ENV: file('rc'),
      ENV: file('rc'),
      SHELLOPTS: 'xtrace',
      'BASH_FUNC_ls%%': '() { echo function; }',
      IFS: '/',
    };
    expect(await run('env | grep -c KEY; ls -d /', { ...{ env } })).toEqual({
      stdout: '0\n/\n',
      stderr: '',
      exit_code: 0,
    });
  });
});

describe('the output of a command', () => {
  it('is cut to head and tail if it is long, and stored in full in a file', async () => {
    const result = await run('seq 1 20000', { outputLimit: 1000 });
    const stdout = String(result.stdout);
    const [, missing, all, path = ''] =
      /\[… (\d+) of (\d+) characters left out\. All is in (\S+) …\]/.exec(stdout) ?? [];
    expect(result.truncated).toBe(true);
    expect([stdout.startsWith('1\n2\n'), stdout.endsWith('19999\n20000\n'), missing, all]).toEqual([
      true,
      true,
      '107894',
      '108894',
    ]);
    expect(readFileSync(path, 'utf8')).toBe(Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join(''));
    expect([statSync(path).mode & 0o777, statSync(place.context.spillFolder).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  it('may be read back by the model without approval', async () => {
    place = { ...place, context: { ...place.context, outputLimit: 200 } };
    const { one } = runnerOn(place, { permissions: { allow: ['bash(seq:*)'], ask: [], deny: [] } });
    const { stdout } = resultOf(await one('bash', { command: 'seq 1 500' }));
    const path = /is in (\S+) /.exec(String(stdout))?.[1] ?? '';
    expect((await one('read_file', { path, offset: 250, limit: 2 })).result).toMatchObject({ content: '250\n251\n' });
  });

  it('shares the limit between output and errors, and creates no file if all fits', async () => {
    const both = await run('seq 1 5000; seq 1 5000 >&2', { outputLimit: 900 });
    expect(String(both.stdout).length + String(both.stderr).length).toBeLessThan(900 + 500);
    expect(String(both.stderr)).toContain('\n5000\n');
    rmSync(place.context.spillFolder, { recursive: true });
    expect(await run(`printf '%0800d'; echo error >&2`)).toMatchObject({ stdout: '0'.repeat(800), stderr: 'error\n' });
    expect(existsSync(place.context.spillFolder)).toBe(false);
  });

  it('takes bounded memory and is whole on the disk, however long it is', async () => {
    const before = process.memoryUsage().rss;
    const result = await run('yes "0123456789012345678901234567890123456789" | head -c 60000000');
    expect(String(result.stdout)).toHaveLength(
      30_000 + String(result.stdout).replace(/^[^[]*|[^\]]*$/g, '').length + 2,
    );
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
    const [name = ''] = readdirSync(place.context.spillFolder);
    expect(statSync(join(place.context.spillFolder, name)).size).toBe(60_000_000);
  });

  it('loses its escape sequences, and shows other control characters', async () => {
    const { stdout } = await run(`printf '\\033[31mred\\033[0m \\033]0;title\\007 bell\\a nul\\0 back\\b\\r\\n'`);
    expect(stdout).toBe('red  bell␇ nul␀ back␈\r\n');
  });

  it('is reported as binary if it is, and stored', async () => {
    const { stdout } = await run('head -c 5000 /dev/urandom');
    expect(stdout).toMatch(/^\(binary output, 5000 bytes, not shown\. All is in \S+\)$/);
  });

  it('is not lost if it cannot be stored on the disk', async () => {
    writeFileSync(file('spill'), 'a file where the folder should be');
    const { stdout } = await run('seq 1 20000', { outputLimit: 1000, spillFolder: file('spill') });
    expect(stdout).toContain('It could not be saved.');
    expect(stdout).toMatch(/^1\n2\n.*\n20000\n$/s);
  });

  it('never splits a character, neither between chunks nor at a cut', async () => {
    const { stdout } = await run(`printf '🌍%.0s' {1..3000}`, { outputLimit: 1001 });
    expect(String(stdout)).toMatch(/^(🌍)+\n\[…[^🌍]*…\]\n(🌍)+$/u);
  });
});
