import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { HangingFolder, itWithHangingFolder } from '../support/hanging-folder.js';
import { png } from '../support/pictures.js';
import { type Home, makeHome, type Run, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { empty, fill, itWithSmallDisk, smallDisk, unmountAll } from '../support/small-disk.js';
import { canTrace } from '../support/strace.js';
import { itWhere } from '../support/where.js';

let server: ScriptedServer;
let laptop: Home;
let desktop: Home;
let folder: string;
let usage: readonly [number, number] | undefined;
let summary: string | undefined;
let hanging: HangingFolder | null = null;
beforeEach(async () => {
  summary = undefined;
  server = await startScriptedServer((_request, index) => ({
    text: summary ?? `answer ${index}`,
    ...(usage && { usage }),
  }));
  [laptop, desktop] = [makeHome(config()), makeHome(config())];
  folder = join(laptop.folder, 'shared');
});
afterEach(async () => {
  // Even after a failure: a program that waits for it never ends.
  hanging?.remove();
  hanging = null;
  await server.close();
  laptop.remove();
  desktop.remove();
  unmountAll();
});

const config = () => ({ provider: 'openai', model: 'scripted', api_base: server.base });
const hi = async (home: Home, ...args: readonly string[]): Promise<Run> => await runProgram(home, args);

/** Two machines begin to share a folder. Resolves to the key. */
async function beginSharing(first: Home, second: Home, path: string): Promise<string> {
  expect((await hi(first, 'share', path, '--name', 'laptop')).status).toBe(0);
  const key = (await hi(first, 'share', '--key')).stdout.trim();
  const joined = await runProgram(second, ['share', path, '--name', 'desktop'], { env: { HI_SHARE_KEY: key } });
  expect(joined.status).toBe(0);
  return key;
}

/** Two machines that have just begun to share a folder. */
let begun: { readonly laptop: Home; readonly desktop: Home; readonly folder: string; readonly key: string } | null =
  null;
afterAll(() => {
  for (const home of [begun?.laptop, begun?.desktop]) home?.remove();
});

/** Both machines share the folder. They begin once for all specs: what that wrote is copied for each. */
async function shared(): Promise<string> {
  if (begun === null) {
    const [first, second] = [makeHome(config()), makeHome(config())];
    const path = join(first.folder, 'shared');
    begun = { laptop: first, desktop: second, folder: path, key: await beginSharing(first, second, path) };
  }
  cpSync(begun.folder, folder, { recursive: true });
  for (const [from, to, name] of [
    [begun.laptop, laptop, 'laptop'],
    [begun.desktop, desktop, 'desktop'],
  ] as const) {
    cpSync(from.data, to.data, { recursive: true });
    cpSync(join(from.config, 'share.key'), join(to.config, 'share.key'));
    to.writeConfig(JSON.stringify({ ...config(), share: { folder, name } }));
  }
  return begun.key;
}

const said = async (home: Home): Promise<readonly string[]> =>
  JSON.parse((await hi(home, 'history', '--json')).stdout)
    .filter(({ role }: { role?: string }) => role === 'user')
    .map(({ content }: { content: { text: string }[] }) => content.at(-1)?.text);

const files = (): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.hi'))
    .map((name) => join(folder, name));

describe('a conversation on two machines', () => {
  it('is one: each takes in what the other said, tells the model where, and the greeting of a turn says so', async () => {
    await hi(laptop, 'ask', 'before sharing');
    await beginSharing(laptop, desktop, folder);
    await hi(laptop, 'ask', 'from the laptop');
    const asked = await hi(desktop, 'ask', 'from the desktop');
    expect(asked.stderr).toBe('1 turn from laptop, just now\n');
    const sent = JSON.stringify(server.requests.at(-1)?.messages);
    expect(sent).toMatch(/before sharing.*on laptop\].*from the laptop.*from the desktop/);
    expect(await said(laptop)).toEqual(['before sharing', 'from the laptop', 'from the desktop']);
    const { machines, problems } = JSON.parse((await hi(laptop, 'share', '--json')).stdout);
    expect(machines).toMatchObject([
      { name: expect.any(String), turns: expect.any(Number), waiting: 0 },
      { name: expect.any(String), waiting: 0 },
    ]);
    expect(machines.map(({ name, turns }: { name: string; turns: number }) => `${name} ${turns}`).sort()).toEqual([
      'desktop 1',
      'laptop 2',
    ]);
    expect(problems).toEqual([]);
  });

  it('shows the folder nothing but sizes and times, and no file there ever changes', async () => {
    await shared();
    await hi(laptop, 'ask', 'CANARYWORD');
    const before = new Map(files().map((path) => [path, readFileSync(path)]));
    await hi(desktop, 'ask', 'CANARYWORD again');
    await hi(laptop, 'ask', 'CANARYWORD once more');
    for (const [path, bytes] of before) expect(readFileSync(path).equals(bytes)).toBe(true);
    for (const path of [...files(), join(folder, 'hi-share.json')])
      expect(readFileSync(path, 'latin1')).not.toMatch(/CANARYWORD|laptop|desktop/);
  });

  it('begins before there is a configuration or a turn, and names this machine', async () => {
    rmSync(laptop.config, { recursive: true });
    expect((await hi(laptop, 'share', folder, '--name', 'laptop')).status).toBe(0);
    const { machines } = JSON.parse((await hi(laptop, 'share', '--json')).stdout);
    expect(machines).toEqual([
      { name: 'laptop', id: expect.any(String), last: null, turns: 0, waiting: 0, this: true },
    ]);
  });

  it('is not joined without the right key, and nothing is written then', async () => {
    await hi(laptop, 'share', folder);
    const without = await hi(desktop, 'share', folder);
    expect(without.status).toBe(3);
    const wrong = await runProgram(desktop, ['share', folder], { env: { HI_SHARE_KEY: 'A'.repeat(43) } });
    expect(wrong.status).toBe(3);
    expect(wrong.stderr).toContain('hi share --key');
    expect(existsSync(join(desktop.config, 'share.key'))).toBe(false);
    expect(readFileSync(desktop.configFile, 'utf8')).not.toContain('share');
    expect(existsSync(desktop.data)).toBe(false);
  });

  it('has a new key in a new folder, and the old one in its own, where a lost marker is written again', async () => {
    const key = await shared();
    await hi(laptop, 'ask', 'kept');
    const marker = join(folder, 'hi-share.json');
    const before = readFileSync(marker, 'utf8');
    rmSync(marker);
    const third = makeHome(config());
    const early = await runProgram(third, ['share', folder], { env: { HI_SHARE_KEY: key } });
    third.remove();
    expect(early).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('when your syncer has copied all of it'),
    });
    writeFileSync(marker, before.slice(0, 9));
    expect((await hi(laptop, 'share', '--name', 'portable')).status).toBe(3);
    expect((await hi(laptop, 'share', folder)).status).toBe(0);
    expect(readFileSync(marker, 'utf8')).toBe(before);
    expect(await said(desktop)).toEqual(['kept']);
    const old = folder;
    folder = join(laptop.folder, 'new');
    expect((await hi(laptop, 'share', folder)).status).toBe(0);
    expect((await hi(laptop, 'share', '--key')).stdout.trim()).not.toBe(key);
    for (const word of ['stop', '', join(folder, 'hi-share.json')])
      expect(await hi(laptop, 'share', word)).toMatchObject({ status: 2, stdout: '' });
    const other = await hi(desktop, 'share', folder);
    expect(other).toMatchObject({ status: 3, stderr: expect.stringContaining('There is no key') });
    expect((await hi(laptop, 'share', old)).status).toBe(0);
    expect((await hi(laptop, 'share', '--key')).stdout.trim()).toBe(key);
  });

  it('reads its key only where something came or is to be given out', async () => {
    const key = await shared();
    const read = join(laptop.folder, 'read');
    const share = { folder, name: 'laptop', key: `!echo read >> '${read}'; echo ${key}` };
    laptop.writeConfig(JSON.stringify({ ...config(), share }));
    await hi(laptop, 'ask', 'from the laptop');
    const before = readFileSync(read, 'utf8');
    expect(await said(laptop)).toEqual(['from the laptop']);
    expect(readFileSync(read, 'utf8')).toBe(before);
    await hi(desktop, 'ask', 'from the desktop');
    expect(await said(laptop)).toEqual(['from the laptop', 'from the desktop']);
    expect(readFileSync(read, 'utf8')).toBe(`${before}read\n`);
  });

  it('ignores and names files that are forged, cut, copied, or of another machine', async () => {
    await shared();
    await hi(laptop, 'ask', 'real');
    const [real = ''] = files();
    const own = join(folder, real.slice(folder.length + 1).split('/')[0] ?? '');
    const other = readdirSync(folder)
      .map((name) => join(folder, name))
      .find((path) => path !== own && !path.endsWith('.json'));
    writeFileSync(join(own, '7-7-0123456789abcdef.hi'), readFileSync(real).subarray(0, 60));
    writeFileSync(join(own, 'notes.txt'), 'garbage');
    writeFileSync(join(own, 'again.hi'), readFileSync(real));
    mkdirSync(other ?? join(folder, '0123456789abcdef'), { recursive: true });
    writeFileSync(join(other ?? join(folder, '0123456789abcdef'), '1-1-0123456789abcdef.hi'), readFileSync(real));
    expect(await said(desktop)).toEqual(['real']);
    const { problems } = JSON.parse((await hi(desktop, 'share', '--json')).stdout);
    expect(problems.filter((problem: string) => problem.includes('ignored'))).toHaveLength(4);
    expect(problems.join('\n')).toContain(`again.hi' of laptop is a copy of '${basename(real)}', and is ignored.`);
  });

  it('answers, and says once what is wrong, while the folder is empty or gone', async () => {
    await shared();
    await hi(laptop, 'ask', 'kept');
    rmSync(folder, { recursive: true });
    const first = await hi(laptop, 'ask', 'without a folder');
    expect(first).toMatchObject({ status: 0, stdout: expect.stringContaining('answer') });
    expect(first.stderr.match(/is not a shared folder now/g)).toHaveLength(1);
    expect((await hi(laptop, 'ask', 'again')).stderr).toBe('');
    expect(await said(laptop)).toEqual(['kept', 'without a folder', 'again']);
  });

  it('waits for an update of hi, and names what it does not read, with machines of one name told apart', async () => {
    await shared();
    await hi(laptop, 'ask', 'known before');
    await hi(desktop, 'share', '--name', 'laptop');
    const before = files();
    await hi(laptop, 'ask', 'of a newer hi');
    const path = files().find((one) => !before.includes(one)) ?? '';
    const bytes = readFileSync(path);
    const newer = Buffer.from(bytes);
    newer[8] = 2;
    writeFileSync(path, newer);
    for (const name of ['large.hi', 'file.hi']) writeFileSync(join(path, '..', name), '');
    truncateSync(join(path, '../large.hi'), 2 ** 33);
    symlinkSync('/', join(path, '../link.hi'));
    symlinkSync('/', join(folder, '0123456789abcdef'));
    execFileSync('mkfifo', [join(path, '../pipe.hi')]);
    const asked = await hi(desktop, 'ask', 'before the update');
    expect(asked.stderr).toMatch(
      /^laptop \([0-9a-f]{4}\) has a newer hi\. Update hi here to take in what it says\.\n$/,
    );
    expect((await hi(desktop, 'ask', 'again')).stderr).toBe('');
    const { problems } = JSON.parse((await hi(desktop, 'share', '--json')).stdout);
    for (const name of ['file.hi', 'large.hi', 'link.hi', 'pipe.hi', '0123456789abcdef'])
      expect(problems.join('\n')).toContain(`${name}'`);
    writeFileSync(path, bytes);
    const after = await hi(desktop, 'ask', 'after the update');
    expect(after.stderr).toMatch(/^1 turn from laptop \([0-9a-f]{4}\), /);
  });

  it('neither reads nor repeats anything for very many files of others', async () => {
    await shared();
    await hi(laptop, 'ask', 'before them');
    const [path = ''] = files();
    for (let at = 0; at <= 20_000; at += 1) writeFileSync(join(path, `../x${at}`), '');
    await hi(laptop, 'ask', 'after them');
    expect(files()).toHaveLength(2);
    expect((await hi(desktop, 'share')).stdout).toContain('more than 20000 files');
  });

  itWithSmallDisk('keeps what is said while the folder is full, says so once, and gives it out later', async () => {
    folder = smallDisk(256);
    await shared();
    fill(folder, 0);
    const full = await hi(laptop, 'ask', 'while it is full');
    expect(full).toMatchObject({ status: 0, stdout: expect.stringContaining('answer') });
    expect(full.stderr).toMatch(/^The shared folder '.*' cannot be used: No space left on device\. .*\n$/);
    expect((await hi(laptop, 'ask', 'still full')).stderr).toBe('');
    empty(folder);
    await hi(laptop, 'ask', 'there is space');
    expect(await said(desktop)).toEqual(['while it is full', 'still full', 'there is space']);
  });

  itWithHangingFolder('answers, says so once, and ends while the folder hangs, and gives out later', async () => {
    hanging = await HangingFolder.mount();
    folder = hanging?.path ?? '';
    await shared();
    hanging?.hang();
    const first = await hi(laptop, 'ask', 'while it hangs');
    expect(first).toMatchObject({ status: 0, stdout: expect.stringMatching(/^answer/) });
    expect(first.stderr).toMatch(/^The shared folder '.*' does not answer\. What is said here is given out .*\n$/);
    const silent = { status: 0, stderr: '' };
    expect(await hi(laptop, 'ask', 'still hanging')).toMatchObject(silent);
    expect(await runProgram(laptop, ['chat'], { input: 'in the chat\n' })).toMatchObject({ status: 0 });
    for (const command of ['history', 'status', 'recall hanging'])
      expect(await hi(laptop, ...command.split(' '))).toMatchObject(silent);
    expect(await hi(desktop, 'share')).toMatchObject({ status: 3, stdout: '' });
    hanging?.goOn();
    await hi(laptop, 'ask', 'it goes on');
    expect(await said(desktop)).toEqual(['while it hangs', 'still hanging', 'in the chat', 'it goes on']);
  });

  it('has the pictures of the other machine, as soon as they are there', async () => {
    await shared();
    writeFileSync(join(laptop.work, 'red.png'), png());
    await hi(laptop, 'ask', '-f', 'red.png', 'a picture');
    const [own = ''] = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'attachments')));
    const [kept, away] = [join(folder, own, 'attachments'), join(laptop.folder, 'away')];
    renameSync(kept, away);
    const early = await hi(desktop, 'ask', 'what do you see?');
    expect(early.stderr).toContain("Not here yet from another machine: image 'red.png'.");
    expect(JSON.stringify(server.requests.at(-1))).not.toContain('base64');
    expect(JSON.stringify(server.requests.at(-1))).toContain(
      '[The image red.png is not here yet: it comes from another machine.]',
    );
    expect((await hi(desktop, 'ask', 'and now?')).stderr).toBe('');
    renameSync(away, kept);
    const seen = await hi(desktop, 'ask', 'and after it came?');
    expect(seen.stderr).not.toContain('red.png');
    expect(JSON.stringify(server.requests.at(-1))).toContain(`base64,${png().toString('base64')}`);
  });

  it('forgets on every machine, names those that have not yet, and brings nothing back', async () => {
    await shared();
    await hi(laptop, 'ask', 'CANARYWORD is secret');
    await hi(desktop, 'ask', 'something else');
    const receipt = await hi(laptop, 'forget', '-y', '#1');
    expect(receipt.stderr).toContain('Not forgotten yet, until hi runs there: desktop');
    expect(await said(desktop)).toEqual(['something else']);
    await hi(desktop, 'share', 'sync');
    expect((await hi(laptop, 'share')).stdout).not.toContain('has not forgotten');
    await hi(desktop, 'share', '--repair');
    for (const home of [laptop, desktop]) {
      expect((await hi(home, 'history')).stdout).not.toContain('CANARYWORD');
      expect((await hi(home, 'recall', 'CANARYWORD')).stdout).not.toContain('CANARYWORD');
    }
  });

  it('is reset here alone: what the folder holds stays away until the reset is undone', async () => {
    await shared();
    await hi(laptop, 'ask', 'before');
    await hi(desktop, 'ask', 'also before');
    expect((await hi(desktop, 'reset', '-y')).stderr).toContain('The other machines keep theirs');
    expect(await said(desktop)).toEqual([]);
    await hi(laptop, 'ask', 'after');
    await hi(desktop, 'ask', 'after here');
    expect(await said(desktop)).toEqual(['after', 'after here']);
    await hi(desktop, 'share', '--repair');
    expect(await said(desktop)).toEqual(['after', 'after here']);
    expect(await said(laptop)).toEqual(['before', 'also before', 'after', 'after here']);
    await hi(desktop, 'reset', '--undo');
    expect((await said(desktop)).toSorted()).toEqual(['after', 'after here', 'also before', 'before']);
  });

  it('has decided the same when the chat has ended, and when something was remembered', async () => {
    await shared();
    expect((await hi(desktop, 'share')).stdout).toContain('desktop (this machine) · 0 turns · nothing said');
    await runProgram(laptop, ['chat', '-y'], { input: 'taken back\n/undo\n' });
    await hi(laptop, 'remember', 'I like tea');
    await hi(desktop, 'ask', 'hello');
    expect(JSON.stringify(server.requests.at(-1)?.messages)).not.toContain('taken back');
    expect((await hi(desktop, 'memory')).stdout).toContain('I like tea');
  });

  it('is reset in the chat, here alone or everywhere, and says which', async () => {
    await shared();
    const chat = async (home: Home, ...lines: readonly string[]): Promise<Run> =>
      await runProgram(home, ['chat', '-y'], { input: lines.map((line) => `${line}\n`).join('') });
    await hi(laptop, 'ask', 'before');
    expect((await chat(desktop, 'one more', '/reset')).stdout).toContain('The other machines keep theirs');
    expect(await said(laptop)).toEqual(['before', 'one more']);
    const everywhere = await chat(laptop, '/reset --everywhere', 'after');
    expect(everywhere.stdout).toContain('Cleared 4 messages. The other machines do the same');
    expect(await said(desktop)).toEqual(['after']);
  });

  it('is reset everywhere but for what was said unknown to the machine that asked, with a copy on each', async () => {
    await shared();
    await hi(laptop, 'ask', 'before');
    await hi(desktop, 'ask', 'also before');
    renameSync(folder, `${folder}-away`);
    await hi(desktop, 'ask', 'offline');
    renameSync(`${folder}-away`, folder);
    expect((await hi(laptop, 'reset', '-y', '--everywhere')).stderr).toMatch(
      /^Cleared 4 messages\. The other machines/,
    );
    expect(await said(laptop)).toEqual([]);
    await hi(laptop, 'ask', 'after');
    const told = await hi(desktop, 'ask', 'after here');
    expect(told.stderr).toContain('was cleared on all machines, from laptop. To restore it here, run: hi reset --undo');
    for (const home of [laptop, desktop]) {
      expect((await said(home)).toSorted()).toEqual(['after', 'after here', 'offline']);
      await hi(home, 'share', '--repair');
      expect(await said(home)).toHaveLength(3);
    }
    await hi(desktop, 'reset', '--undo');
    expect(await said(desktop)).toEqual(expect.arrayContaining(['before', 'also before', 'offline']));
    expect(await said(laptop)).toHaveLength(3);
  });

  it('asks at once though much arrived, with the newest of this machine and of the others', async () => {
    await shared();
    for (const home of [laptop, desktop])
      home.writeConfig(
        JSON.stringify({
          ...config(),
          context_window: 8000,
          share: JSON.parse(readFileSync(home.configFile, 'utf8')).share,
        }),
      );
    await hi(desktop, 'ask', 'own words');
    const long = Array.from({ length: 12 }, (_, turn) => `late ${turn} ${'word '.repeat(500)}`).join('\n');
    await runProgram(laptop, ['chat'], { input: `${long}\n` });
    const before = server.requests.length;
    const asked = await hi(desktop, 'ask', 'a question');
    expect(asked.status).toBe(0);
    expect(server.requests.length - before).toBe(1);
    const sent = JSON.stringify(server.requests.at(-1)?.messages);
    expect(sent).toMatch(/own words.*late 11.*a question/);
    expect(sent).not.toContain('late 0 ');
    expect(asked.stderr).toMatch(/^1[0-9] turns from laptop/m);
  });

  it('begins on a machine that joins with the newest summary, which names the messages here, in one request', async () => {
    await hi(desktop, 'share', folder, '--name', 'desktop');
    const key = (await hi(desktop, 'share', '--key')).stdout.trim();
    await hi(desktop, 'ask', 'said on the desktop');
    await runProgram(laptop, ['share', folder], { env: { HI_SHARE_KEY: key } });
    const long = Array.from({ length: 8 }, (_, turn) => `turn ${turn} ${'word '.repeat(500)}`).join('\n');
    await runProgram(laptop, ['chat'], { input: `${long}\n` });
    summary = '=== SUMMARY ===\nThey counted [#5].\n=== NEW FACTS ===\n- fact: the code is PELICAN [#3]\n';
    expect((await hi(laptop, 'compact')).stderr).toContain('compacted');
    summary = undefined;
    await hi(laptop, 'ask', 'one more');
    const third = makeHome(config());
    try {
      await runProgram(third, ['share', folder], { env: { HI_SHARE_KEY: key } });
      const before = server.requests.length;
      expect((await hi(third, 'ask', 'a question')).status).toBe(0);
      expect(server.requests.length - before).toBe(1);
      const sent = JSON.stringify(server.requests.at(-1)?.messages);
      expect(sent).toMatch(/They counted .*PELICAN.*turn 7.*one more.*a question/);
      expect(sent).not.toMatch(/turn [0-3] /);
      const [, id = ''] = /PELICAN \[#(\d+)\]/.exec(sent) ?? [];
      expect((await hi(third, 'history', `#${id}`)).stdout).toContain('turn 0 ');
    } finally {
      third.remove();
    }
  });

  it('has the size that this machine measured, whatever another one measured', async () => {
    await shared();
    const own = await hi(desktop, 'status', '--json');
    usage = [110_000, 10];
    await hi(laptop, 'ask', 'measured elsewhere');
    usage = undefined;
    const { context_tokens, estimated_tokens } = JSON.parse((await hi(desktop, 'status', '--json')).stdout);
    expect(JSON.parse(own.stdout).messages).toBe(0);
    expect(estimated_tokens).toBeLessThan(100);
    expect(context_tokens).toBeLessThan(5000);
  });

  itWhere(canTrace, 'strace cannot be used here')('opens nothing of it where nothing is shared', async () => {
    const log = join(laptop.folder, 'opened');
    const under = ['strace', '-f', '-qq', '-e', 'trace=open,openat,stat,statx,newfstatat', '-o', log];
    expect((await runProgram(laptop, ['ask', 'hello'], { under })).status).toBe(0);
    expect(readFileSync(log, 'utf8').match(/\/share\.\w+|mountinfo|hi-share/g)).toBeNull();
  });

  it('can be read by the Python of the page on the format', async () => {
    const key = await shared();
    await hi(laptop, 'ask', 'read by Python');
    const page = readFileSync(join(import.meta.dirname, '../../docs/share-format.md'), 'utf8');
    const [, program = ''] = /```python\n([\s\S]*?)```/.exec(page) ?? [];
    expect(program.trim().split('\n').length).toBeLessThanOrEqual(20);
    const [path = ''] = files();
    const script = join(laptop.folder, 'read.py');
    writeFileSync(script, program);
    const env = { ...process.env, HI_SHARE_KEY: key };
    const item = JSON.parse(execFileSync('python3', [script, path], { env }).toString());
    expect(item).toMatchObject({ kind: 'turn', messages: [{ role: 'user' }, { role: 'assistant' }] });
  });
});
