import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { openIn, unzstd, zstd } from '../support/history.js';
import { type Home, makeHome, type RunOptions, runProgram } from '../support/program.js';
import { longHistory, recallIn } from '../support/recall.js';
import { type Reply, type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { canTrace } from '../support/strace.js';
import { itWhere } from '../support/where.js';

let server: ScriptedServer;
let home: Home;
/** A data folder with a history and its index, of which each spec gets a copy. */
let indexed: string;
let replies: readonly Reply[];

const hi = (args: readonly string[], options?: RunOptions) => runProgram(home, args, options);

const settings = () => ({
  provider: 'openai',
  model: 'scripted',
  api_base: server.base,
  context_window: 60_000,
  compaction: { strategy: 'truncate' },
});

beforeAll(async () => {
  indexed = (await longHistory(3))();
  const store = await openIn(indexed);
  const recall = recallIn(indexed, store);
  await recall.catchUp(60_000);
  await recall.calibrate(60_000);
  recall.close();
  await store.close();
});

/** Takes the index away. */
const unindexed = (): void => rmSync(join(home.data, 'recall'), { recursive: true });

beforeEach(async () => {
  replies = [{ text: 'ok' }];
  server = await startScriptedServer((_request, index) => replies[index] ?? { text: 'ok' });
  home = makeHome(settings());
  cpSync(indexed, home.data, { recursive: true });
});

afterEach(async () => {
  await server.close();
  home.remove();
});

describe('hi recall', () => {
  it('prints the best matches, each with its id, its local time and its text, without an index too', async () => {
    unindexed();
    const { status, stdout, stderr } = await hi(['recall', 'question about the Zeppelin']);
    expect([status, stderr]).toEqual([0, '']);
    const [head, words] = stdout.split('\n');
    expect(head).toMatch(/^#\d+ · Sun 22 Nov 2026 \d\d:\d\d · .* · you/);
    expect(words).toContain('about the zeppelin');
  });

  it('prints flat JSON: which message, when and where, how well it matches, and its text', async () => {
    const [hit] = JSON.parse((await hi(['recall', 'zeppelin', '--json', '--who', 'user'])).stdout);
    const { id, turn, at, cwd } = JSON.parse((await hi(['history', '--json'])).stdout).find(
      (entry: { id: number }) => entry.id === hit.id,
    );
    expect(hit).toMatchObject({ id, turn, at, cwd, role: 'user', source: 'user' });
    expect(hit.text).toContain('zeppelin');
    expect(hit.score).toBeGreaterThan(0);
  });

  it('finds exact words, and says when there are none', async () => {
    expect((await hi(['recall', '"about the zeppelin:"', '-n', '1'])).stdout).toContain('about the zeppelin:');
    const none = await hi(['recall', '"zeppelin about"']);
    expect(none).toMatchObject({ status: 0, stdout: '', stderr: `No message contains '"zeppelin about"'.\n` });
  });

  it('respects times, and refuses invalid ones', async () => {
    expect((await hi(['recall', 'zeppelin', '--until', '2026-11-21'])).stdout).toBe('');
    expect((await hi(['recall', 'zeppelin', '--from', '2026-11-21', '--until', '2026-11-23'])).stdout).not.toBe('');
    expect(await hi(['recall', 'zeppelin', '--from', 'soon'])).toMatchObject({ status: 2, stdout: '' });
    expect(await hi(['recall'])).toMatchObject({ status: 2, stdout: '' });
  });

  it('does not find undone messages', async () => {
    await hi(['chat'], { input: 'I love quibblewort\n/undo\n' });
    await hi(['ask', 'something else']);
    const none = { status: 0, stdout: '', stderr: "No message contains 'quibblewort'.\n" };
    expect(await hi(['recall', 'quibblewort'])).toMatchObject(none);
    expect((await hi(['recall', 'quibblewort zeppelin'])).stdout).toContain('zeppelin');
  });

  it('rebuilds the index', async () => {
    unindexed();
    expect(await hi(['recall', '--rebuild'])).toMatchObject({ status: 0, stderr: 'Indexed the whole conversation.\n' });
    expect(readdirSync(join(home.data, 'recall'))).toHaveLength(1);
  });

  it.each([
    ['recall', 'zeppelin'],
    ['history', '--find', 'zeppelin'],
    ['recall', '--rebuild'],
  ])('indexes a history in another layout at once: %s %s', async (...args) => {
    const { stdout } = await hi(args);
    unindexed();
    const entries = unzstd(readFileSync(home.historyFile)) ?? '';
    writeFileSync(home.historyFile, zstd(Buffer.from(entries)));
    expect(await hi(args)).toMatchObject({ status: 0, stdout });
    expect(readdirSync(join(home.data, 'recall'), { recursive: true })).toContainEqual(
      expect.stringMatching(/0-0\.seg$/),
    );
    expect(JSON.parse(unzstd(readFileSync(home.historyFile)) ?? '')).toEqual(JSON.parse(entries));
  });

  it('leaves nothing of the index after hi reset --purge', async () => {
    expect(existsSync(join(home.data, 'recall'))).toBe(true);
    await hi(['reset', '-y', '--purge']);
    expect(existsSync(join(home.data, 'recall'))).toBe(false);
  });
});

describe('in the chat', () => {
  it('/find lists messages and /history opens the place', async () => {
    const { stdout } = await hi(['chat'], { input: '/find question 3 zeppelin\n/history #13\n' });
    expect(stdout).toMatch(/#\d+ · .* · you/);
    expect(stdout).toContain('zeppelin');
    expect(stdout).toMatch(/^#13 · you/m);
    expect(server.requests).toHaveLength(0);
  });
});

describe('the model', () => {
  it('finds what is no longer in view, with dates and labels, without approval', async () => {
    replies = [{ calls: [{ name: 'recall', args: { query: 'question about the quokka' } }] }, { text: 'A quokka.' }];
    const { status, stdout } = await hi(['ask', 'Which animal did I ask about first?']);
    expect([status, stdout.trim()]).toEqual([0, 'A quokka.']);
    const [first, second] = server.requests;
    expect(JSON.stringify(first?.messages)).not.toContain('quokka');
    const result = String(second?.messages.at(-1)?.content);
    expect(result).toMatch(/#\d+ · Sun 22 Nov 2026 \d\d:\d\d \(.*\) · user said · /);
    expect(result).toContain('about the quokka');
    expect(result.length).toBeLessThan(8000);
  });

  it('does not find earlier results, and is told what cannot be searched for', async () => {
    const call = (args: object): Reply => ({ calls: [{ name: 'recall', args }] });
    replies = [
      call({ query: 'quokka' }),
      call({}),
      call({ query: 'x', from: 'soon' }),
      call({ around: 3 }),
      { text: 'ok' },
    ];
    await hi(['ask', 'Look.']);
    const results = server.requests.map(({ messages }) => String(messages.at(-1)?.content));
    expect(results[2]).toContain('Nothing to search for');
    expect(results[3]).toContain("Cannot read the time 'soon'");
    expect(results[4]).toContain('#3 · ');
    const found = JSON.parse((await hi(['recall', 'quokka', '--json', '-n', '50'])).stdout);
    expect(found.map(({ role }: { role: string }) => role)).not.toContain('tool');
  });

  it('can be denied it by a rule', async () => {
    home.writeConfig(JSON.stringify({ ...settings(), tools: { permissions: { deny: ['recall'] } } }));
    replies = [{ calls: [{ name: 'recall', args: { query: 'quokka' } }] }, { text: 'ok' }];
    await hi(['ask', 'Look.']);
    expect(String(server.requests.at(-1)?.messages.at(-1)?.content)).toContain("the rule 'recall' forbids it");
  });
});

describe('what the model says while a summary is in view', () => {
  /** Tells something, compacts that, and asks for it: where the origin of the answer comes from. */
  async function originAfter(told: Reply): Promise<string> {
    home.remove();
    home = makeHome({ ...settings(), compaction: { strategy: 'replace' } });
    const words = `It is about a zeppelin. ${'and so on '.repeat(60)}`;
    replies = [
      told,
      ...(told.calls ? [{ text: words }] : []),
      { text: 'Record: a zeppelin.' },
      { text: 'A zeppelin at dawn.' },
    ];
    await hi(['ask', `Tell me. ${'and so on '.repeat(60)}`]);
    expect((await hi(['compact'])).status).toBe(0);
    await hi(['ask', 'What was it?']);
    const [{ source }] = JSON.parse((await hi(['recall', 'dawn', '--json'])).stdout);
    return source;
  }

  it("counts as its own after a summary of conversation, and as foreign after one of a tool's output", async () => {
    expect(await originAfter({ text: `It is about a zeppelin. ${'and so on '.repeat(60)}` })).toBe('model');
    await server.close();
    server = await startScriptedServer((_request, index) => replies[index] ?? { text: 'ok' });
    expect(await originAfter({ calls: [{ name: 'list_files', args: { path: '.' } }] })).toBe('foreign');
  });
});

describe('hi ask', () => {
  itWhere(canTrace, 'strace cannot be used here')('opens nothing of the index and loads nothing of it', async () => {
    const log = join(mkdtempSync(join(tmpdir(), 'hi-trace-')), 'log');
    await hi(['ask', 'good morning'], { under: ['strace', '-f', '-qq', '-e', 'trace=openat,open', '-o', log] });
    expect(server.requests).toHaveLength(1);
    const opened = readFileSync(log, 'utf8');
    expect(opened).toContain('history.json.zst');
    expect(opened).not.toContain(join(home.data, 'recall'));
  });
});
