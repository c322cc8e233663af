import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it } from '@jest/globals';
import { HistoryStore } from '../../lib/history/store.js';
import { answers, says } from '../support/history.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { prose } from '../support/prose.js';
import { type Reply, type ScriptedServer, type SentRequest, startScriptedServer } from '../support/scripted-server.js';

let server: ScriptedServer;
let home: Home;

const HOUR = 3_600_000;

const isSummary = ({ messages }: SentRequest): boolean =>
  JSON.stringify(messages).includes('You keep the record of one long conversation');

const ANSWER: Reply = { text: 'The answer.' };

/** A home with a conversation of these exchanges that ended ten hours ago. */
async function setUp(
  exchanges: number,
  summary: () => Reply,
  more: object = {},
  answer: Reply = ANSWER,
): Promise<void> {
  server = await startScriptedServer((request) => (isSummary(request) ? summary() : answer));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base, recall: { auto: false }, ...more });
  let at = Date.now() - 10 * HOUR - exchanges * 20_000;
  const now = (): Date => {
    at += 10_000;
    return new Date(at);
  };
  const store = await HistoryStore.open({ folder: home.data, now });
  for (let turn = 0; turn < exchanges; turn += 1) {
    const { turn: id } = await store.begin(says(`question-${turn} ${prose(300, turn)}`));
    await store.append(id, [answers(`answer-${turn} ${prose(1500, turn)}`)]);
  }
  await store.close();
}

const hi = (...args: readonly string[]) => runProgram(home, args);
const stored = (): readonly { readonly type?: string; readonly strategy?: string }[] =>
  JSON.parse(execFileSync('zstd', ['-dc', home.historyFile]).toString());

afterEach(async () => {
  await server?.close();
  home?.remove();
});

const SUMMARY = { text: '=== SUMMARY ===\nThey exchanged questions.\n=== NEW FACTS ===\n- fact: the sky is blue' };

describe('a question after a night', () => {
  it('sends the last exchanges only, says so in one line, and the history shows it', async () => {
    await setUp(60, () => SUMMARY);
    const { stdout, stderr, status } = await hi('ask', 'good morning');
    expect([status, stdout]).toEqual([0, 'The answer.\n']);
    expect(stderr).toMatch(
      /^── 11\d messages left the view · \d kept · [\d.]+k tokens · \/all asks with everything ──$/m,
    );
    const [main] = server.requests;
    expect(JSON.stringify(main?.messages)).toContain('answer-59');
    expect(JSON.stringify(main?.messages)).not.toContain('answer-50');
    expect(JSON.stringify(main).length / 4).toBeLessThan(8000);
    expect((await hi('history')).stdout).toMatch(/left the view/);
    expect(stored().filter(({ type }) => type === 'compress')).toMatchObject([{ strategy: 'rest' }]);
  });

  it('is asked before the summary of what left, which it does not wait for', async () => {
    await setUp(60, () => ({ ...SUMMARY, hangAfter: 0 }));
    const { stdout, status } = await hi('ask', 'good morning');
    expect([status, stdout]).toEqual([0, 'The answer.\n']);
    expect(server.requests.map(isSummary)).toEqual([false, true]);
    expect(server.abandoned()).toBe(1);
    // It is begun again with the next one.
    await hi('ask', 'and now?');
    expect(server.requests.map(isSummary)).toEqual([false, true, false, true]);
  });

  it('has the summary written beside its answer, once', async () => {
    await setUp(60, () => SUMMARY);
    for (const text of ['good morning', 'and now?', 'and then?']) await hi('ask', text);
    expect(server.requests.map(isSummary)).toEqual([false, true, false, false]);
    expect(JSON.stringify(server.requests.at(-1))).toContain('good morning');
  });

  it('has a refused summary begun once beside an answer, and three times for the same messages', async () => {
    const pieces = Array.from({ length: 30 }, (_, at) => `word${at} `);
    await setUp(60, () => ({ text: 'I cannot help with that.' }), {}, { pieces, delay: 5 });
    for (let asked = 0; asked < 4; asked += 1) expect((await hi('ask', 'good morning')).status).toBe(0);
    expect(server.requests.map(isSummary)).toEqual([false, true, false, true, false, true, false]);
  });

  it('sends everything if the window is configured, as long as it is not nearly full', async () => {
    await setUp(60, () => SUMMARY, { context_window: 200_000 });
    expect((await hi('ask', 'good morning')).stderr).not.toContain('left the view');
    expect(JSON.stringify(server.requests)).toContain('answer-0 ');
  });

  it('reports the rest in the result, and takes it back with /uncompact', async () => {
    await setUp(60, () => SUMMARY);
    const { stdout } = await hi('ask', '--json', 'good morning');
    expect(JSON.parse(stdout)).toMatchObject({ compaction: { strategy: 'rest', source: 'none' } });
    const chat = await runProgram(home, ['chat'], { input: '/uncompact\nand now?\n' });
    expect(chat.status).toBe(0);
    expect(JSON.stringify(server.requests.findLast((request) => !isSummary(request)))).toContain('answer-0 ');
  });
});
