import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCodec } from '../lib/history/file/codec.js';
import { evaluatedIn } from '../scripts/build/evaluated.js';
import { compile } from './compile.js';
import { type FakeVendor, startFakeVendor } from './fake-vendor.js';
import { BOOKS, IN_EACH, writeBooks } from './import-books.js';
import { EXPORTED, writeExport } from './import-export.js';
import { talkRows } from './import-talks.js';
import { type Cost, runOnce } from './process.js';
import { searchedIn, spread } from './recall-speed.js';
import { setNames, talks } from './recall-talks.js';
import { median, type Row } from './row.js';
import { home, PROGRAM, settingsFor } from './start.js';

/** The number of runs with and without books that are compared, by turns. */
const ROUNDS = 21;

/** The number of questions of which the slowest are looked at. */
const QUESTIONS = 200;

/** What an import costs, and what its books cost later. */
export async function rows(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hi-bench-import-'));
  const vendor = await startFakeVendor();
  try {
    return [...(await exportRows(folder)), ...(await bookRows(folder, vendor)), ...(await talkRows(folder))];
  } finally {
    vendor.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function exportRows(folder: string): Promise<readonly Row[]> {
  const path = join(folder, 'export');
  const size = writeExport(path);
  const cost = await runOnce([process.execPath, PROGRAM, 'import', path], home(folder, 'importing', null), null);
  rmSync(path, { recursive: true });
  const what = `importing ${EXPORTED.toLocaleString('en')} messages and their pictures, ${Math.round(size / 1e6)} MB`;
  return [
    { what, value: cost.wall / 1000, unit: 's', limit: 60 },
    { what: 'the same: peak memory', value: cost.peak / 1e6, unit: 'MB', limit: 300 },
  ];
}

/** No rows if there are no talks, of whose words the books are made. */
async function bookRows(folder: string, vendor: FakeVendor): Promise<readonly Row[]> {
  const all = setNames().flatMap(talks);
  const texts = all.flatMap(({ messages }) => messages.map(({ text }) => text));
  const asked = all.flatMap(({ questions }) => questions.map(({ q }) => q.replaceAll('\n', ' ')));
  if (texts.length === 0 || asked.length === 0) return [];
  loadCodec();
  const program = await compile('bench/recall-search.ts', folder, {
    plugins: [evaluatedIn(['lib/recall/words/han-variants.ts'])],
  });
  const [none, some] = ['none', 'some'].map((name) => {
    const env = home(folder, name, settingsFor(vendor, 'openai', '/v1'));
    mkdirSync(env.HI_DATA_DIR ?? '');
    return { env, data: env.HI_DATA_DIR ?? '' };
  });
  if (none === undefined || some === undefined) return [];
  const imports = join(some.data, 'imports');
  writeBooks(imports, texts);
  writeFileSync(join(imports, 'consent.json'), JSON.stringify(Object.fromEntries(BOOKS.map((book) => [book, 'any']))));
  searchedIn(program, some.data, 'rebuild', []);
  const times = searchedIn(program, some.data, 'search', spread(asked, QUESTIONS)).times.slice(1);
  const sorted = [...times].sort((one, other) => one - other);
  const at = (part: number): number => sorted[Math.floor(part * sorted.length)] ?? Number.NaN;
  const where = `${BOOKS.length} books of ${IN_EACH.toLocaleString('en')} messages`;
  const start = await compared([none, some], vendor, () => 'hello');
  const searched = await compared([none, some], vendor, (round) => spread(asked, ROUNDS)[round] ?? '');
  return [
    { what: `\`hi ask\` with ${where} → first request, against none`, value: start, unit: '×', limit: 1.03 },
    { what: 'the same, a question for which they are searched', value: searched, unit: '×' },
    { what: `a search in ${where}, processor time: half take less`, value: at(0.5), unit: 'ms', limit: 25 },
    { what: 'the same: 95 % take less', value: at(0.95), unit: 'ms', limit: 80 },
  ];
}

/**
 * How much later the first request leaves in the second home than in the first, by turns, as the median of the ratios
 * of all rounds.
 */
async function compared(
  homes: readonly { readonly env: Readonly<Record<string, string>>; readonly data: string }[],
  vendor: FakeVendor,
  question: (round: number) => string,
): Promise<number> {
  const ratios: number[] = [];
  for (let round = -1; round < ROUNDS; round += 1) {
    const costs: Cost[] = [];
    for (const index of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const { env, data } = homes[index] ?? { env: {}, data: '' };
      rmSync(join(data, 'history.json.zst'), { force: true });
      costs[index] = await runOnce([process.execPath, PROGRAM, 'ask', question(Math.max(0, round))], env, vendor.clock);
    }
    // The first one compiles.
    if (round >= 0) ratios.push((costs[1]?.request ?? Number.NaN) / (costs[0]?.request ?? Number.NaN));
  }
  return median(ratios);
}
