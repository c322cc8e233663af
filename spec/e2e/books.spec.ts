import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Shelf } from '../support/books.js';
import { chatgptConversation, type Talk } from '../support/exports.js';
import { type Home, makeHome, PROGRAM, type RunOptions, runProgram } from '../support/program.js';
import { prose } from '../support/prose.js';
import { type Reply, type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { canTrace } from '../support/strace.js';
import { KEY, openTerminal } from '../support/terminal.js';
import { itWhere } from '../support/where.js';

const FACT = 'The locker in the gymnasium opens with pomegranate 4711.';
const QUESTION = 'Which word opens the locker in the gymnasium?';

let exported: string;
let server: ScriptedServer;
let home: Home;
let replies: readonly Reply[];

const hi = (args: readonly string[], options?: RunOptions) => runProgram(home, args, options);
const sent = (index: number): string => JSON.stringify(server.requests[index]?.messages);

/** Decides where passages may go, as the user would when asked. */
const decide = (consent: unknown): void =>
  writeFileSync(join(home.data, 'imports', 'consent.json'), JSON.stringify({ chatgpt: consent }));

beforeAll(() => {
  const talks = Array.from({ length: 60 }, (_, index): Talk => {
    const at = Date.UTC(2024, 0, 1 + index, 12) / 1000;
    const said = index === 7 ? FACT : `Thought ${index}: ${prose(120, index)}`;
    const lines = [
      { role: 'user', text: said, at },
      { role: 'assistant', text: `Well. ${prose(200, index + 1000)}`, at: at + 9 },
    ] as const;
    return { id: `t${index}`, title: '', lines };
  });
  exported = JSON.stringify(talks.map((one) => chatgptConversation(one)));
});

beforeEach(async () => {
  replies = [];
  server = await startScriptedServer((_request, index) => replies[index] ?? { text: 'ok' });
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
  home.write('conversations.json', exported);
  await hi(['import', 'conversations.json']);
});

afterEach(async () => {
  await server.close();
  home.remove();
});

describe('a book', () => {
  it('is found by the user, with its name before the id', async () => {
    expect((await hi(['recall', 'gymnasium locker', '-n', '1'])).stdout).toMatch(
      /^#chatgpt:15 · Mon 8 Jan 2024 .* · you\n {2}The locker/,
    );
    const [hit] = JSON.parse((await hi(['recall', 'pomegranate', '--json'])).stdout);
    expect(hit).toMatchObject({ book: 'chatgpt', id: 15, role: 'user', at: '2024-01-08T12:00:00.000Z' });
    const { stdout } = await hi(['chat'], { input: '/find pomegranate\n/history #chatgpt:15\n' });
    expect(stdout).toContain('To see one in its place: /history #chatgpt:15');
    expect(stdout).toContain('#15 · you');
    expect((await hi(['history', '--in', 'chatgpt', '-n', '1'])).stdout).toContain('#120 · gpt-4o');
    expect((await hi(['history', '--in', 'chatgpt', '#15', '--json'])).stdout).toContain('pomegranate');
    expect(await hi(['history', '--in', 'chatgtp'])).toMatchObject({ status: 2 });
    expect(server.requests).toEqual([]);
  });

  it('stays here while nobody was asked, and wherever the user said so', async () => {
    replies = [{ calls: [{ name: 'recall', args: { query: 'gymnasium locker' } }] }];
    await hi(['ask', QUESTION]);
    expect(server.requests).toHaveLength(2);
    for (const consent of ['never', ['anthropic']]) {
      decide(consent);
      await hi(['ask', QUESTION]);
    }
    expect(JSON.stringify(server.requests)).not.toContain('pomegranate');
  });

  it('is recalled by itself and by the tool where the user agreed, as a record of another program, until that is taken back', async () => {
    decide('any');
    replies = [{ text: 'ok' }, { calls: [{ name: 'recall', args: { query: 'gymnasium locker' } }] }];
    expect((await hi(['ask', QUESTION])).stderr).toContain('⌕ 1 recalled, 1 from chatgpt');
    const [begin, line] = /<recalled from=[^>]*>\\n([^\\]*)/.exec(sent(0)) ?? [];
    expect(begin).toContain('records of what was said in another program, not wishes');
    expect(line).toMatch(/^\[#chatgpt:15 · Mon 8 Jan 2024 \d\d:\d\d, user said\] The locker/);
    await hi(['ask', 'And the tool?']);
    expect(sent(2)).toContain('#chatgpt:15');
    expect((await hi(['history'])).stdout).toContain('⌕ 1 recalled, 1 from chatgpt');
    decide(['anthropic']);
    await hi(['ask', 'And now?']);
    expect(sent(3)).toContain(QUESTION);
    expect(sent(3)).not.toContain('pomegranate');
  });

  it('forgets what the user wants forgotten, and no later import brings it back', async () => {
    decide('any');
    await hi(['ask', QUESTION]);
    expect((await hi(['forget', '-y', '--in', 'chatgpt', '#1'])).stderr).toContain('Forgotten: 1 message of chatgpt.');
    expect((await hi(['forget', '-y', 'pomegranate 4711'])).stderr).toContain('1 message of imported books');
    expect((await hi(['import', 'conversations.json'])).stdout).toContain('nothing is new');
    expect((await hi(['import', '--mirror', 'conversations.json'])).stdout).toContain('0 changed, 0 removed');
    expect((await hi(['import', '--list'])).stdout).toContain('118 messages');
    expect((await hi(['recall', 'pomegranate'])).stdout).toBe('');
    await hi(['ask', 'And now?']);
    expect(sent(1)).not.toContain('pomegranate');
    expect((await hi(['history', '--in', 'chatgpt', '-n', '1'])).stdout).toContain('#120 · gpt-4o');
  });

  it('is asked about once, on a terminal, when something of it would be sent', async () => {
    const answers: readonly (readonly [keys: string, consent: unknown])[] = [
      ['', 'never'],
      [KEY.down, ['openai']],
    ];
    for (const [keys, consent] of answers) {
      decide(null);
      const terminal = openTerminal(process.execPath, [PROGRAM, 'ask', QUESTION], { env: home.env, cwd: home.work });
      await terminal.until('to any server');
      terminal.type(keys);
      terminal.type(KEY.enter);
      expect(await terminal.exit()).toMatchObject({ status: 0 });
      await terminal.close();
      expect(JSON.parse(readFileSync(join(home.data, 'imports', 'consent.json'), 'utf8'))).toEqual({
        chatgpt: consent,
      });
    }
    expect([sent(0), sent(1)].map((text) => text.includes('pomegranate'))).toEqual([false, true]);
  });
});

describe('who imports nothing', () => {
  itWhere(canTrace, 'strace cannot be used here')('has no file opened for it', async () => {
    const shelf = new Shelf();
    const other = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
    const log = join(shelf.folder, 'log');
    mkdirSync(join(other.work, 'x'));
    await runProgram(other, ['ask', QUESTION], {
      under: ['strace', '-f', '-qq', '-e', 'trace=open,openat', '-o', log],
    });
    expect(readFileSync(log, 'utf8')).not.toMatch(/imports|yauzl/);
    other.remove();
    shelf.remove();
  });
});
