import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry } from '../lib/chat/entry.js';
import { asTokens } from '../lib/chat/request.js';
import { historyPathsIn } from '../lib/history/base/history-paths.js';
import { loadCodec } from '../lib/history/file/codec.js';
import { replaceHistory } from '../lib/history/repair/repair.js';
import { evaluatedIn } from '../scripts/build/evaluated.js';
import { compile } from './compile.js';
import { chain } from './import-books.js';
import type { Talk } from './recall-talks.js';
import { median, type Row } from './row.js';

const MESSAGES = 1_000_000;

/** The number of questions, each asked once. */
const QUESTIONS = 200;
/** The number of processes that ask only one question. */
const COLD_STARTS = 3;

/** The number of messages in the view, after a compaction. */
const VIEW = 100;

/** What a search costs in a conversation of a million messages made of these talks. No rows if there are no talks. */
export async function speedRows(talks: readonly Talk[]): Promise<readonly Row[]> {
  const texts = talks.flatMap(({ messages }) => messages.map(({ text }) => text));
  const asked = talks.flatMap(({ questions }) => questions.map(({ q }) => q.replaceAll('\n', ' ')));
  if (texts.length === 0 || asked.length === 0) return [];
  const questions = spread(asked, QUESTIONS);
  const root = mkdtempSync(join(tmpdir(), 'hi-bench-'));
  try {
    const program = await compile('bench/recall-search.ts', root, {
      plugins: [evaluatedIn(['lib/recall/words/han-variants.ts'])],
    });
    const folder = join(root, 'life');
    mkdirSync(folder);
    const size = { text: 0 };
    replaceHistory(loadCodec(), historyPathsIn(folder), 'bench', life(texts, size));
    const run = (work: string, asking: readonly string[] = []) => searchedIn(program, folder, work, asking);
    const rebuilt = run('rebuild');
    const cold = Array.from(
      { length: COLD_STARTS },
      (_, index) => run('search', questions.slice(index, index + 1)).times[0] ?? 0,
    );
    const searched = run('search', questions);
    return rowsOf({
      rebuild: rebuilt.times[0] ?? 0,
      share: (100 * indexSize(join(folder, 'recall'))) / size.text,
      cold: median(cold),
      times: searched.times.slice(1).sort((one, other) => one - other),
      memory: searched.memory - run('open').memory,
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** So many of the questions, from all of them. */
export function spread(questions: readonly string[], count: number): readonly string[] {
  const step = Math.max(1, questions.length / count);
  return Array.from({ length: Math.floor(questions.length / step) }, (_, at) => questions[Math.floor(at * step)] ?? '');
}

/** Runs the compiled `recall-search.ts` in a data folder: its times in milliseconds, and its peak memory in MiB. */
export function searchedIn(
  program: string,
  folder: string,
  work: string,
  questions: readonly string[],
): { readonly times: readonly number[]; readonly memory: number } {
  const input = questions.join('\n');
  return JSON.parse(execFileSync(process.execPath, [program, folder, work], { input, encoding: 'utf8' }));
}

interface Measured {
  readonly rebuild: number;
  readonly share: number;
  readonly cold: number;
  readonly times: readonly number[];
  readonly memory: number;
}

function rowsOf({ rebuild, share, cold, times, memory }: Measured): readonly Row[] {
  const at = (part: number): number => times[Math.floor(part * times.length)] ?? Number.NaN;
  const where = `at ${MESSAGES.toLocaleString('en')} messages`;
  return [
    { what: `a search ${where}, processor time: half take less`, value: at(0.5), unit: 'ms', limit: 25 },
    { what: 'the same: 95 % take less', value: at(0.95), unit: 'ms', limit: 80 },
    { what: 'the same: the first in a process', value: cold, unit: 'ms', limit: 150 },
    {
      what: `memory that ${times.length + 1} searches add to opening the history`,
      value: memory,
      unit: 'MiB',
      limit: 30,
    },
    { what: `index ${where} against the text`, value: share, unit: '%', limit: 12 },
    { what: `rebuilding the index ${where}, processor time`, value: rebuild / 1000, unit: 's', limit: 120 },
    { what: 'the same, spread over the messages', value: rebuild / MESSAGES, unit: 'ms', limit: 0.1 },
  ];
}

function indexSize(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

/**
 * A conversation in which one message in twenty is from the talks; the others are chains of their words, with invented
 * names. Adds up the text in `size`.
 */
function* life(texts: readonly string[], size: { text: number }): Generator<Entry> {
  const random = numbers();
  const words = texts.flatMap((text) => text.split(/\s+/));
  for (let id = 1; id <= MESSAGES; id += 1) {
    const isWhole = random() < 0.05;
    const text = isWhole ? (texts[Math.floor(random() * texts.length)] ?? '') : chain(words, random);
    size.text += Buffer.byteLength(text);
    yield entry(id, text);
  }
  yield compaction(MESSAGES + 1);
}

function compaction(id: number): Entry {
  const [messages_compacted, messages_kept] = [MESSAGES - VIEW, VIEW];
  const sizes = { tokens_before: asTokens(100_000), tokens_after: asTokens(10) };
  const text = { content: 'What was said.', strategy: 'summary', source: 'model' } as const;
  const first_kept = id - VIEW;
  return { id, at: timeOf(id), type: 'compress', ...text, first_kept, messages_compacted, messages_kept, ...sizes };
}

const timeOf = (id: number): string => new Date(1.4e12 + id * 3e5).toISOString();

function entry(id: number, text: string): Entry {
  const turn = id - ((id - 1) % 3);
  const said = { id, turn, at: timeOf(id), cwd: '/home/user', content: [{ type: 'text', text }] } as const;
  if (id === turn) return { ...said, role: 'user' };
  if (id === turn + 1) return { ...said, role: 'assistant', model: 'model', provider: 'openai', stop_reason: 'end' };
  const content = [{ type: 'tool_result', call_id: `call-${id}`, name: 'bash', result: { output: text } }] as const;
  return { ...said, role: 'tool', content };
}

/** Pseudo-random numbers, the same in each run. */
function numbers(): () => number {
  let state = 7;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
