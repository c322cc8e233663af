import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, jest } from '@jest/globals';
import { canBeElsewhere, elsewhere } from '../support/place.js';
import { type Asked, losses } from '../support/places.js';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { prose } from '../support/prose.js';
import { type Reply, type SentRequest, startScriptedServer } from '../support/scripted-server.js';
import { canTrace, straced } from '../support/strace.js';
import { itWhere, together } from '../support/where.js';

/** One in the suite; `npm run test:crash` runs twenty of each. */
const ROUNDS = Number(process.env.HI_PLACES_ROUNDS ?? 1);
/** So many rounds at once: most of their time is waiting. */
const AT_ONCE = 4;

// All of them at once, for the same reason.
const places = itWhere(canBeElsewhere, 'no right to make namespaces', together);
const stopped = itWhere(canBeElsewhere && canTrace, 'no strace, or no right to make namespaces', together);
/** What runs a program with a clock that is ahead. */
const AHEAD = ['faketime', '-f', '+20s'];
/** How often each of six writers asks. */
const TURNS = ROUNDS > 1 ? 8 : 2;
const skewed = itWhere(
  canBeElsewhere && spawnSync(AHEAD[0] ?? '', [...AHEAD.slice(1), 'true']).status === 0,
  'no faketime, or no right to make namespaces',
  together,
);

const asked = (request: SentRequest): string => String(request.messages.at(-1)?.content);
const pause = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

type Ask = (question: string, under?: readonly string[]) => Promise<Asked>;

/**
 * Where one stands still: at the writes of its question and of its answer, at looking who else wishes, at letting the
 * lock go.
 */
const STANDING = [
  ...[1, 2, 3, 4].map((when) => ({ at: 'pwrite64', when })),
  ...[2, 3, 4].map((when) => ({ at: 'getdents64', when })),
  ...[1, 2].map((when) => ({ at: 'unlink', when })),
];

/** Runs the rounds, `least` of them at least, each with a home and a server of its own; what was wrong after any. */
async function rounds(
  run: (ask: Ask, home: Home, round: number) => Promise<readonly string[]>,
  least = 1,
  answer: (request: SentRequest) => Reply = (request) => ({ text: `answer to ${asked(request)}` }),
): Promise<readonly string[]> {
  const found: string[] = [];
  const waiting = Array.from({ length: Math.max(ROUNDS, least) }, (_, index) => index);
  const next = async (): Promise<void> => {
    for (let round = waiting.shift(); round !== undefined; round = waiting.shift()) {
      const server = await startScriptedServer(answer);
      const home = makeHome({
        provider: 'openai',
        // What was asked is looked for in what was sent.
        clock: false,
        // What others asked meanwhile may be far back for a clock that is behind.
        recall: { auto: false },
        model: 'scripted',
        api_base: server.base,
        context_window: 10_000_000,
      });
      const wrong = await run((question, under) => ask(home, question, under), home, round);
      found.push(...wrong.map((what) => `round ${round}: ${what}`));
      await server.close();
      home.remove();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return found;
}

/** Asks; a program that a fault stops goes on 15 seconds after it began, and again later where that was too early. */
async function ask(home: Home, question: string, under: readonly string[] = []): Promise<Asked> {
  let timer: NodeJS.Timeout | undefined;
  const run = await runProgram(home, ['ask', question], {
    under,
    during: ({ kill }) => {
      timer = setInterval(() => kill('SIGCONT'), 16_000);
    },
  });
  clearInterval(timer);
  return { question, run };
}

/** A history as another program writes it. */
function writeForeign(home: Home, count: number): void {
  const entries = Array.from({ length: count }, (_, index) => ({
    id: index + 1,
    turn: index - (index % 2) + 1,
    at: '2026-01-01T00:00:00.000Z',
    cwd: '/',
    role: index % 2 ? 'assistant' : 'user',
    content: [{ type: 'text', text: prose(900, index) }],
    ...(index % 2 ? { stop_reason: 'end' } : {}),
  }));
  mkdirSync(home.data, { recursive: true });
  writeFileSync(home.historyFile, execFileSync('zstd', ['-c'], { input: JSON.stringify(entries), maxBuffer: 2 ** 30 }));
}

/** Resolves when a file whose name begins so is in the data folder. */
async function appears(home: Home, prefix: string): Promise<void> {
  while (!existsSync(home.data) || !readdirSync(home.data).some((name) => name.startsWith(prefix))) await pause(5);
}

// Most of it is waiting for ten seconds and more, on what may be a busy machine.
jest.setTimeout(120_000 + (ROUNDS / AT_ONCE) * 120_000);

describe('two places on one history', () => {
  stopped('wait while one of them takes long to write the file anew, and lose nothing', async () => {
    const found = await rounds(async (ask, home, round) => {
      writeForeign(home, 4000);
      // A disk so slow that the writes of the new file together take longer than a silent process is believed in: one
      // elsewhere, or one of the same place.
      const same = round % 2 === 1;
      const slow = straced({ at: 'pwrite64', when: 1, from: true, does: same ? 2500 : 700 });
      const here = ask('here', [...(same ? [] : elsewhere('here')), ...slow]);
      await appears(home, 'history.new.');
      return losses(home, await Promise.all([here, ask('there', same ? [] : elsewhere('there'))]));
    });
    expect(found).toEqual([]);
  });

  stopped('lose nothing when one stands still for 15 s in the middle of its writes, and then goes on', async () => {
    const found = await rounds(async (ask, home, round) => {
      const first = await ask('first');
      // Every other round the whole process stands still, as in a container that is paused; else only the call, as on a
      // disk that does not answer.
      const fault = STANDING[Math.floor(round / 2) % STANDING.length] ?? { at: 'pwrite64', when: 1 };
      const slow = straced(round % 2 ? { ...fault, does: 'stop' } : { ...fault, does: 15_000 });
      const standing = ask('standing still', [...elsewhere('there'), ...slow]);
      await pause(1500);
      const others = ['one', 'two', 'three'].map((question) => ask(question, elsewhere(`place-${question}`)));
      return losses(home, [first, ...(await Promise.all([standing, ...others]))]);
    }, 2);
    expect(found).toEqual([]);
  });

  skewed('lose nothing when their clocks are 20 s apart', async () => {
    const found = await rounds(async (ask, home) => {
      const asks = Array.from({ length: 6 }, async (_, writer) => {
        const place = writer % 2 ? [...AHEAD, ...elsewhere('ahead')] : elsewhere('right');
        const done: Asked[] = [];
        for (let turn = 0; turn < TURNS; turn += 1) done.push(await ask(`question ${writer}.${turn}`, place));
        return done;
      });
      return losses(home, (await Promise.all(asks)).flat());
    });
    expect(found).toEqual([]);
  });

  places('go on after ten seconds when a process elsewhere left its lock, whatever time that says', async () => {
    const found = await rounds(async (ask, home) => {
      const first = await ask('first');
      const lock = join(home.data, 'history.lock.elsewhere.7.7');
      writeFileSync(lock, '');
      const inAnHour = new Date(Date.now() + 3_600_000);
      utimesSync(lock, inAnHour, inAnHour);
      return losses(home, [first, await ask('second')]);
    });
    expect(found).toEqual([]);
  });

  places('do not call a turn cut short that still runs in the other one', async () => {
    const slow = ROUNDS > 1 ? 14_000 : 3000;
    const found = await rounds(
      async (ask, home) => {
        const running = ask('slow', elsewhere('there'));
        await appears(home, 'history.turn.');
        await pause(ROUNDS > 1 ? 11_000 : 500);
        // Its mark as one looks that was made long ago, or by a clock that is behind.
        const [mark = ''] = readdirSync(home.data).filter((name) => name.startsWith('history.turn.'));
        utimesSync(join(home.data, mark), new Date(0), new Date(0));
        const others = [await ask('one'), await ask('two')];
        return losses(home, [...others, await running]);
      },
      1,
      (request) => ({ text: `answer to ${asked(request)}`, ...(asked(request) === 'slow' ? { delay: slow } : {}) }),
    );
    expect(found).toEqual([]);
  });
});
