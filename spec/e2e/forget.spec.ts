import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Entry } from '../../lib/chat/entry.js';
import { conversationOf, entriesAt, filesWith, keepAll, steps } from '../support/forgetting.js';
import { archived, openIn, zstd } from '../support/history.js';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import fc, { cases } from '../support/properties.js';
import { indexFiles, longHistory } from '../support/recall.js';
import { KEY, openTerminal } from '../support/terminal.js';

let home: Home;
beforeEach(() => {
  home = makeHome({ provider: 'ollama', model: 'none' });
});
afterEach(() => home.remove());

const hi = (...args: readonly string[]) => runProgram(home, args);
const memory = (): string => join(home.config, 'memory.md');

/** What is left of a conversation: without the messages that only hold a place. */
const left = (path: string): readonly Entry[] =>
  entriesAt(path).filter((entry) => 'type' in entry || entry.content.length > 0);

function said(id: number, turn: number, role: 'user' | 'assistant', text: string): Entry {
  const at = `2026-11-0${Math.ceil(turn / 2)}T10:00:0${id}.000Z`;
  const end = role === 'assistant' ? { stop_reason: 'end' as const } : {};
  return { id, turn, at, cwd: '/', role, content: [{ type: 'text', text }], ...end };
}

const TALK = [
  said(1, 1, 'user', 'hello'),
  said(2, 1, 'assistant', 'good day'),
  said(3, 3, 'user', 'my word is xyzzy'),
  said(4, 3, 'assistant', 'noted'),
  said(5, 5, 'user', 'and more'),
  said(6, 5, 'assistant', 'of course'),
];

function keep(entries: readonly Entry[]): void {
  mkdirSync(home.data, { recursive: true, mode: 0o700 });
  writeFileSync(home.historyFile, zstd(Buffer.from(JSON.stringify(entries))), { mode: 0o600 });
}

describe('hi forget', () => {
  it('removes a text from every file, and leaves the rest unchanged', async () => {
    const texts = fc.constantFrom('hunter2-xyzzy', 'Projekt "Adler"', 'a \\secret\\path');
    await fc.assert(
      fc.asyncProperty(steps, steps, texts, async (now, before, text) => {
        const one = makeHome({ provider: 'ollama', model: 'none' });
        try {
          const [current, reset] = [conversationOf(now, text, 'now'), conversationOf(before, text, 'before')];
          keepAll(one, current, reset, text);
          expect(filesWith(one, text).length).toBeGreaterThan(5);
          const { status, stderr } = await runProgram(one, ['forget', '-y', text]);
          expect(stderr).toContain('Forgotten: ');
          expect(status).toBe(0);
          expect(filesWith(one, text)).toEqual([]);
          for (const [path, { entries, staying }] of [
            [one.historyFile, current],
            [join(one.data, 'history.reset.json.zst'), reset],
          ] as const) {
            expect(left(path)).toEqual(entries.filter(({ id }) => staying.has(id)));
            expect(entriesAt(path).at(-1)?.id).toBe(entries.at(-1)?.id);
          }
          expect(readFileSync(join(one.config, 'memory.md'), 'utf8')).toBe('- keep this\n- and this\n');
          expect(readFileSync(join(one.data, 'input-history.jsonl'), 'utf8')).toBe('"something else"\n');
          expect(existsSync(join(one.folder, 'cache/outputs/2026-01-01T00-00-00-000Z-abcdee.stdout'))).toBe(true);
          expect((await runProgram(one, ['forget', '-y', text])).stderr).toMatch(
            /^There is nothing to forget\.\nNot searched: /,
          );
          const store = await openIn(one.data);
          expect((await archived(store)).length).toBe(entriesAt(one.historyFile).length);
          expect(store.takeNotices().filter((notice) => !notice.includes('cut short'))).toEqual([]);
          await store.close();
        } finally {
          one.remove();
        }
      }),
      { numRuns: cases(6) },
    );
  }, 600_000);

  it('removes a text from the index of sealed messages, and still finds the rest', async () => {
    const copy = await longHistory(4);
    cpSync(copy(), home.data, { recursive: true });
    mkdirSync(join(home.folder, 'cache'), { recursive: true });
    expect((await hi('recall', '--rebuild')).status).toBe(0);
    const segments = () => indexFiles(home.data).filter(([path]) => path.endsWith('.seg'));
    expect(segments().length).toBeGreaterThan(0);
    const found = async (word: string) => (await hi('recall', word)).stdout.match(/^#\d+/gm) ?? [];
    const [before, others] = [await found('zeppelin'), await found('kestrel')];
    expect(before.length).toBeGreaterThan(0);
    expect((await hi('forget', '-y', 'zeppelin')).status).toBe(0);
    expect(filesWith(home, 'zeppelin')).toEqual([]);
    expect(await found('zeppelin')).toEqual([]);
    expect((await hi('recall', '--rebuild')).status).toBe(0);
    expect(segments().filter(([, bytes]) => bytes.includes('zeppelin'))).toEqual([]);
    expect([await found('zeppelin'), await found('kestrel')]).toEqual([[], others]);
  }, 120_000);

  it('shows everything that goes and prints a receipt', async () => {
    keep(TALK);
    writeFileSync(memory(), '- XYZZY opens it\n- keep\n');
    const { status, stderr } = await hi('forget', '-y', 'xyzzy');
    expect(status).toBe(0);
    expect(stderr).toMatch(/^#3 user, .*: my word is xyzzy$/m);
    expect(stderr).toContain('a line of memory.md: - XYZZY opens it\n');
    expect(stderr).toContain('Forgotten: 1 message, 1 line of the memory.\nNot removed: what was sent to a vendor');
    expect(left(home.historyFile).map(({ id }) => id)).toEqual([1, 2, 4, 5, 6]);
    expect(readFileSync(memory(), 'utf8')).toBe('- keep\n');
  });

  it('shows and removes a text with invisible characters, in full width, and with the capitals of Turkish', async () => {
    keep([
      said(1, 1, 'user', 'my wo\u200brd is xy\u00adzzy'),
      said(2, 1, 'assistant', 'ＸＹＺＺＹ, noted'),
      said(3, 3, 'user', 'İstanbul'),
      said(4, 3, 'assistant', 'what of it?'),
    ]);
    const first = await hi('forget', '-y', 'xyzzy');
    expect(first.stderr).toMatch(/#1 [\s\S]*#2 /);
    expect((await hi('forget', '-y', 'istanbul')).status).toBe(0);
    expect(JSON.stringify(left(home.historyFile).flatMap((entry) => ('type' in entry ? [] : entry.content)))).toBe(
      '[{"type":"text","text":"what of it?"}]',
    );
  });

  it("names the user's own files that contain the text", async () => {
    keep(TALK);
    mkdirSync(join(home.config, 'skills'));
    writeFileSync(join(home.config, 'skills', 'door.md'), 'Say xyzzy.');
    expect((await hi('forget', '-y', 'xyzzy')).stderr).toContain(join(home.config, 'skills', 'door.md'));
    expect(readFileSync(join(home.config, 'skills', 'door.md'), 'utf8')).toBe('Say xyzzy.');
  });

  it('accepts messages by ids, the last turn, or all since a time; ids are not used again', async () => {
    keep(TALK);
    await hi('forget', '-y', '#4 #1');
    expect(left(home.historyFile).map(({ id }) => id)).toEqual([2, 3, 5, 6]);
    await hi('forget', '-y', '--last');
    expect(left(home.historyFile).map(({ id }) => id)).toEqual([2, 3]);
    await hi('forget', '-y', '--since', '2026-11-02');
    expect(left(home.historyFile).map(({ id }) => id)).toEqual([2]);
    await hi('forget', '-y', '#2');
    expect(JSON.parse((await hi('status', '--json')).stdout)).toMatchObject({ messages: 0 });
    const store = await openIn(home.data);
    const { id } = await store.note({ role: 'user', content: [{ type: 'text', text: 'new' }], cwd: '/' });
    expect(id).toBe(7);
    await store.close();
  });

  it('forgets what the model and the summary added to the memory because of a message, and the input', async () => {
    keep(TALK);
    const by = (who: string, id: number): string => `- by ${who} ${id} <!-- ${who} 2026-11-03T10:00:00Z #${id} -->\n`;
    writeFileSync(memory(), by('model', 3) + by('record', 3) + by('user', 3) + by('model', 1));
    writeFileSync(join(home.data, 'input-history.jsonl'), '"hello"\n"my word is xyzzy"\n');
    await hi('forget', '-y', '#3');
    expect(readFileSync(memory(), 'utf8')).toBe(by('user', 3) + by('model', 1));
    expect(readFileSync(join(home.data, 'input-history.jsonl'), 'utf8')).toBe('"hello"\n');
  });

  it('refuses without a terminal unless -y is given, and refuses unknown ids', async () => {
    keep(TALK);
    for (const [words, advised] of [
      [['forget', 'xyzzy'], 'hi forget xyzzy -y'],
      [['forget', '--last'], 'hi forget --last -y'],
      [['forget', '--', "it's", '#3'], `hi forget -y -- "it's" "#3"`],
    ] as const)
      expect(await hi(...words)).toMatchObject({ status: 2, stderr: expect.stringContaining(`run: ${advised}\n`) });
    expect(await hi('forget')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Nothing given to forget.'),
    });
    for (const args of [[], ['#99'], ['x', '--last'], ['--since', 'never']])
      expect((await hi('forget', '-y', ...args)).status).toBe(2);
    expect(left(home.historyFile)).toHaveLength(6);
  });

  it('asks on a terminal', async () => {
    for (const [key, count] of [
      ['n', 6],
      ['y', 5],
    ] as const) {
      keep(TALK);
      const terminal = openTerminal(RUNTIME, [PROGRAM, 'forget', 'xyzzy'], { env: home.env, cwd: home.work });
      await terminal.until((screen) => screen.includes('Forget all of this for good?'));
      terminal.type(`${key}${KEY.enter}`);
      await terminal.exit();
      await terminal.close();
      expect(left(home.historyFile)).toHaveLength(count);
    }
  });
});

describe('/forget', () => {
  it('forgets in the chat, including the command itself', async () => {
    keep(TALK);
    const { stdout } = await runProgram(home, ['chat', '-y'], { input: '/forget "my word"\n/forget --last\n' });
    expect(stdout).toContain('my word is xyzzy');
    expect(stdout).toContain('Forgotten: 1 message');
    expect(left(home.historyFile).map(({ id }) => id)).toEqual([1, 2, 4]);
    expect(filesWithInputs()).not.toContain('my word');
  });

  it('finds nothing in the words that say what to forget', async () => {
    keep(TALK);
    writeFileSync(join(home.data, 'input-history.jsonl'), '"/forget plugh"\n"hello"\n');
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'chat'], { env: home.env, cwd: home.work });
    await terminal.until(/hi> *$/);
    terminal.type(`/forget plugh${KEY.enter}`);
    await terminal.until('There is nothing to forget.');
    await terminal.close();
    expect(filesWithInputs()).toBe('"hello"\n');
  });

  it('says off the record that nothing is kept', async () => {
    keep(TALK);
    const { stderr } = await runProgram(home, ['chat', '-y'], { input: '/off\n/forget xyzzy\n' });
    expect(stderr).toContain('Nothing is kept off the record.');
    expect(left(home.historyFile)).toHaveLength(6);
  });
});

const filesWithInputs = (): string => {
  const path = join(home.data, 'input-history.jsonl');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
};
