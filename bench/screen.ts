import { openSync, writeSync } from 'node:fs';
import { Writable } from 'node:stream';
import { setImmediate as tick } from 'node:timers/promises';
import type { WrapMode } from '../lib/chat/event.js';
import { StyledAnswerWriter } from '../lib/screen/answer-writer.js';
import { type OutputStreams, Screen } from '../lib/screen/screen.js';
import { median, type Row } from './row.js';

/** The number of chunks in an answer, in both benchmarks of the REPL. */
export const CHUNKS = 20_000;
const ROUNDS = 15;
/** In the first rounds V8 compiles, which costs more than the work itself. */
const WARM_UP = 8;

/**
 * What rendering costs: 20,000 chunks of an answer with prose, lists, tables and code. Medians of several rounds, after
 * some to warm up.
 */
export async function rows(): Promise<readonly Row[]> {
  const chunks = answerInChunks();
  const runs = {
    bare: bareWriting,
    piped: screenWriting(false),
    styled: screenWriting(true),
    unwrapped: screenWriting(true, 'terminal'),
  };
  const found: Record<keyof typeof runs, number[]> = { bare: [], piped: [], styled: [], unwrapped: [] };
  for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
    for (const name of ['bare', 'piped', 'styled', 'unwrapped'] as const) {
      const cost = await cpuOf(() => runs[name](chunks));
      if (round >= WARM_UP) found[name].push(cost / CHUNKS);
    }
  }
  const [bare, piped, styled] = [median(found.bare), median(found.piped), median(found.styled)];
  const unwrapped = median(found.unwrapped);
  const ratios = found.styled.map((cost, round) => cost / (found.unwrapped[round] ?? cost));
  const row = (what: string, cost: number, limit?: number, unit = 'µs CPU'): Row => ({
    what,
    value: cost,
    unit,
    ...(limit === undefined ? {} : { limit }),
  });
  return [
    row('writing a chunk as it comes', bare),
    row('showing it through a pipe', piped),
    row('showing it on a terminal, styled and coloured', styled),
    row('the same beyond the pipe', styled - piped, 5),
    row('the same wrapped by the terminal ("wrap": "terminal")', unwrapped),
    row('wrapped at words, in place of that', median(ratios), 1.3, 'times'),
  ];
}

/** The number of chunks that the network delivers at a time. */
const AT_ONCE = 5;

async function bareWriting(chunks: readonly string[]): Promise<void> {
  const out = sink();
  for (const [index, chunk] of chunks.entries()) {
    out.write(chunk);
    if (index % AT_ONCE === 0) await tick();
  }
}

const screenWriting =
  (isTerminal: boolean, wrap: WrapMode = 'word') =>
  async (chunks: readonly string[]): Promise<void> => {
    const streams: OutputStreams = {
      out: sink(),
      err: sink(),
      outIsTerminal: isTerminal,
      errIsTerminal: isTerminal,
      colour: { out: isTerminal, err: isTerminal },
      columns: () => 80,
    };
    const screen = new Screen(streams, {
      quiet: false,
      styled: StyledAnswerWriter,
      settings: { wrap, waiting: 'animated' },
      thinking: true,
      exact: false,
      now: Date.now,
    });
    await screen.follow(
      (async function* () {
        for (const [index, text] of chunks.entries()) {
          yield { type: 'text', text } as const;
          if (index % AT_ONCE === 0) await tick();
        }
      })(),
    );
    screen.close();
  };

/** Accepts bytes at once, like a terminal. */
function sink(): Writable {
  const nowhere = openSync('/dev/null', 'w');
  return new Writable({
    decodeStrings: false,
    write(text: string, _encoding, done) {
      writeSync(nowhere, text);
      done();
    },
  });
}

async function cpuOf(run: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const ANSWER = `## How it works

The **first** thing to know is that \`stream()\` yields *pieces* of text, see https://example.org/streams for more.

1. It reads a chunk, and decodes it.
2. It looks for a line end; when there is none, it waits.
   - nothing is lost, however the bytes were cut

| case | result |
|------|--------|
| whole line | written |
| half a line | held |

\`\`\`python
def lines(chunks):
    """Yield whole lines."""
    rest = ""
    for chunk in chunks:  # as they come
        rest += chunk
        while "\\n" in rest:
            line, rest = rest.split("\\n", 1)
            yield line
\`\`\`

That is all there is to it; the rest of the program does not change.

`;

/** Prose, lists, tables and code, in chunks of about the size of a token. */
export function answerInChunks(): readonly string[] {
  const pieces = ANSWER.match(/\s?\S{1,5}|\s+/g) ?? [];
  return Array.from({ length: CHUNKS }, (_, index) => pieces[index % pieces.length] ?? '');
}
