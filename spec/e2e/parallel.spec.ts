import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type Entry, isCompressBlock, isMessage } from '../../lib/chat/entry.js';
import { textOf } from '../../lib/chat/message.js';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { type Reply, type ScriptedServer, type SentRequest, startScriptedServer } from '../support/scripted-server.js';
import { canTrace, straced } from '../support/strace.js';
import { control, openTerminal, type Terminal } from '../support/terminal.js';
import { itWhere } from '../support/where.js';

let server: ScriptedServer;
let home: Home;
let terminal: Terminal | undefined;

async function setUp(answer: (request: SentRequest, index: number) => Reply, more: object = {}): Promise<void> {
  server = await startScriptedServer(answer);
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base, ...more });
}

const hi = (...args: readonly string[]) => runProgram(home, args);

const entries = (): readonly Entry[] => JSON.parse(execFileSync('zstd', ['-dc', home.historyFile]).toString());
const asked = (request: SentRequest): string => String(request.messages.at(-1)?.content);
const contents = (request: SentRequest | undefined) => request?.messages.map(({ content }) => content);

/** An answer in pieces, so that all turns are under way at the same time. */
const slowly = (request: SentRequest): Reply => ({ pieces: ['answer to ', asked(request)], delay: 150 });

/** Starts `hi chat` in a terminal and waits for its prompt. */
async function chat(): Promise<Terminal> {
  terminal = openTerminal(RUNTIME, [PROGRAM, 'chat'], { env: home.env, cwd: home.work });
  await terminal.until(/^hi> *$/m, 60_000);
  return terminal;
}

/** What was said in each turn, in the order of the turns. */
function turns(): ReadonlyMap<number, readonly string[]> {
  const found = new Map<number, string[]>();
  for (const message of entries().filter(isMessage)) {
    found.set(message.turn, [...(found.get(message.turn) ?? []), textOf(message.content)]);
  }
  return found;
}

const isWhole = ([question, answer]: readonly string[]): boolean => answer === `answer to ${question}`;

afterEach(async () => {
  await terminal?.close();
  terminal = undefined;
  await server.close();
  home.remove();
});

// Twenty processes on what may be a busy machine.
jest.setTimeout(180_000);

describe('twenty hi ask and a chat on one conversation', () => {
  const questions = Array.from({ length: 20 }, (_, index) => `question ${index + 1}`);

  it('write 21 whole turns with ascending ids, and lose nothing', async () => {
    await setUp(slowly);
    const repl = await chat();
    const asks = questions.map((question) => hi('ask', question));
    repl.type('typed question\r');
    const runs = await Promise.all(asks);
    await repl.until('answer to typed question', 60_000);
    repl.type(control('d'));
    await repl.exit();
    expect(runs).toEqual(questions.map((question) => ({ status: 0, stdout: `answer to ${question}\n`, stderr: '' })));
    expect(entries().map(({ id }) => id)).toEqual(Array.from({ length: 42 }, (_, index) => index + 1));
    const told = [...turns().values()];
    expect(told.filter(isWhole)).toHaveLength(21);
    expect(told.map(([question]) => question).sort()).toEqual(['typed question', ...questions].sort());
    await hi('ask', 'last question');
    const sent = contents(server.requests.at(-1)) ?? [];
    expect(sent).toEqual([...told.flat(), 'last question']);
  });

  it('lose nothing that was accepted when half of them are killed, and the next start reports what was cut short', async () => {
    await setUp(slowly);
    const repl = await chat();
    const seen: string[] = [];
    const asks = questions.map((question, index) =>
      runProgram(home, ['ask', question], {
        during: ({ kill, onOutput }) => {
          if (index % 2 === 0) return;
          // At any moment from its start, while the answer comes, or right after its first words.
          if (index % 4 === 1) setTimeout(() => kill('SIGKILL'), Math.random() * 4000);
          else onOutput(() => kill('SIGKILL'));
        },
      }),
    );
    repl.type('typed question\r');
    const runs = await Promise.all(asks);
    await repl.until('answer to typed question', 60_000);
    repl.type(control('d'));
    await repl.exit();
    runs.forEach(({ status }, index) => {
      if (status === 0) seen.push(questions[index] ?? '');
    });
    expect(seen.length).toBeGreaterThanOrEqual(10);
    expect(entries().map(({ id }) => id)).toEqual(entries().map((_, index) => index + 1));
    const told = [...turns().values()];
    const whole = told.filter(isWhole);
    expect(whole.map(([question]) => question)).toEqual(expect.arrayContaining(['typed question', ...seen]));
    // The question was on disk before the server heard it.
    const heard = server.requests.map(asked);
    expect(told.map(([question]) => question)).toEqual(expect.arrayContaining(heard));
    const open = told.filter((turn) => !isWhole(turn));
    expect(open.every((turn) => turn.length === 1)).toBe(true);
    const next = await hi('ask', 'last question');
    expect(next.stderr.includes('cut short')).toBe(open.length > 0);
    expect(contents(server.requests.at(-1))).toEqual([...whole.flat(), 'last question']);
    expect((await hi('ask', 'and again')).stderr).toBe('');
  });
});

describe('a REPL that waits at its prompt', () => {
  it('sends with its next request what another process added meanwhile', async () => {
    await setUp((request) => ({ text: `answer to ${asked(request)}` }));
    const repl = await chat();
    repl.type('one\r');
    await repl.until('answer to one');
    await repl.until(/hi> *$/);
    await hi('ask', 'two');
    repl.type('three\r');
    await repl.until('answer to three');
    expect(contents(server.requests.at(-1))).toEqual(['one', 'answer to one', 'two', 'answer to two', 'three']);
  });

  it('starts over when another process cleared the conversation', async () => {
    await setUp((request) => ({ text: `answer to ${asked(request)}` }));
    const repl = await chat();
    repl.type('one\r');
    await repl.until('answer to one');
    await repl.until(/hi> *$/);
    await hi('reset', '-y');
    repl.type('two\r');
    await repl.until('answer to two');
    expect(contents(server.requests.at(-1))).toEqual(['two']);
    expect(entries().map(({ id }) => id)).toEqual([1, 2]);
  });
});

describe('a lock that cannot be removed', () => {
  itWhere(canTrace, 'strace cannot be used here')(
    'ends with an error or without harm, and never waits for itself',
    async () => {
      await setUp((request) => ({ text: `answer to ${asked(request)}` }));
      await hi('ask', 'first');
      for (const when of [1, 2, 3, 4]) {
        const under = straced({ at: 'unlink', when, does: 'EIO', from: true });
        const { status, stderr } = await runProgram(home, ['ask', `question ${when}`], { under });
        if (status !== 0)
          expect([when, status, stderr]).toEqual([when, 7, expect.stringMatching(/^hi: .*(EIO|cannot be removed)/m)]);
        expect((await hi('ask', `after ${when}`)).status).toBe(0);
        const once = straced({ at: 'unlink', when, does: 'EIO' });
        expect((await runProgram(home, ['ask', `again ${when}`], { under: once })).status ?? -1).toBeGreaterThanOrEqual(
          0,
        );
      }
    },
    120_000,
  );
});

describe('two compactions at once', () => {
  it('make one block', async () => {
    const summary = '=== SUMMARY ===\nThey counted.\n=== NEW FACTS ===\n- fact: They counted.\n';
    await setUp((request) => {
      const summarises = JSON.stringify(request.messages).includes('=== SUMMARY ===');
      return summarises ? { text: summary, delay: 1500 } : { text: `answer to ${asked(request)} `.padEnd(2000, 'x') };
    });
    const input = Array.from({ length: 10 }, (_, index) => `question ${index}`).join('\n');
    await runProgram(home, ['chat'], { input });
    const runs = await Promise.all([hi('compact'), hi('compact'), hi('compact')]);
    expect(runs.map(({ status }) => status)).toEqual([0, 0, 0]);
    expect(entries().filter(isCompressBlock)).toMatchObject([{ source: 'model', messages_compacted: 14 }]);
    expect(runs.filter(({ stderr }) => stderr.includes('14 messages compacted'))).toHaveLength(1);
  });
});
