import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry } from '../lib/chat/entry.js';
import type { JsonObject } from '../lib/chat/json.js';
import { historyPathsIn } from '../lib/history/base/history-paths.js';
import { loadCodec } from '../lib/history/file/codec.js';
import { replaceHistory } from '../lib/history/repair/repair.js';
import { tokensOf } from './price-cache.js';
import { type Asked, HABITS, questionsOf, saidInLife, smallQuestions } from './price-life.js';
import {
  type Billed,
  type PricedServer,
  type PricedVendor,
  RULES,
  startPricedServer,
  VENDOR_NAMES,
} from './price-vendor.js';
import { median, type Row } from './row.js';
import { PROGRAM } from './start.js';

/**
 * The lengths of the conversations that are asked after a night, in messages, and how many questions each vendor gets.
 */
const LENGTHS = [
  { length: 100_000, questions: 25 },
  { length: 1000, questions: 6 },
  { length: 1_000_000, questions: 6 },
];

const NIGHT = 24 * 3600;

/** The number of questions of a life, and what it may cost against a fresh chat for each burst. */
const ASKED = 300;
const LIMITS = { daily: 2.4, light: 2.8 } as const;
const PAID: readonly PricedVendor[] = ['anthropic', 'openai'];

/** What a question sends and costs, however old the conversation is. */
export async function rows(): Promise<readonly Row[]> {
  const root = mkdtempSync(join(tmpdir(), 'hi-bench-price-'));
  try {
    const clock = join(root, 'clock.cjs');
    writeFileSync(clock, CLOCK);
    return [...(await sentRows(root, clock)), ...(await lifeRows(root, clock))];
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Moves the clock of a process by so many milliseconds. */
export const CLOCK = `
const moved = Number(process.env.HI_BENCH_CLOCK);
const Real = Date;
globalThis.Date = class Date extends Real {
  constructor(...given) {
    super(...(given.length === 0 ? [Real.now() + moved] : given));
  }
  static now() {
    return Real.now() + moved;
  }
};
`;

/** The sizes of small questions after a night in conversations of several lengths. */
async function sentRows(root: string, clock: string): Promise<readonly Row[]> {
  const sizes: number[][] = [];
  for (const { length, questions } of LENGTHS) {
    const data = join(root, `life-${length}`);
    mkdirSync(data);
    replaceHistory(loadCodec(), historyPathsIn(data), 'life', lifeEntries(length));
    const config = join(root, 'no-config');
    await run(['recall', '--rebuild'], { config, data, cache: join(root, 'cache'), work: root }, clock, 0);
    sizes.push((await Promise.all(VENDOR_NAMES.map((vendor) => sentTo(vendor, data, questions, root, clock)))).flat());
    rmSync(data, { recursive: true });
  }
  const middles = sizes.map(median);
  const longest = [...(sizes[0] ?? [])].sort((one, other) => one - other);
  const p95 = longest[Math.floor(0.95 * longest.length)] ?? Number.NaN;
  const what = `a small question after a night, 100,000 messages, four vendors, ${longest.length} processes`;
  return [
    { what: `${what}: half send less`, value: middles[0] ?? Number.NaN, unit: 'tokens', limit: 8000 },
    { what: 'the same: 95 % send less', value: p95, unit: 'tokens', limit: 12_000 },
    ...LENGTHS.slice(1).map(({ length }, index) => ({
      what: `half send less at ${length.toLocaleString('en')} messages, against that`,
      value: (middles[index + 1] ?? Number.NaN) / (middles[0] ?? Number.NaN),
      unit: '×',
      least: 0.9,
      limit: 1.1,
    })),
  ];
}

/** A conversation that ended a day ago. */
function* lifeEntries(length: number): Generator<Entry> {
  const end = Date.now() - NIGHT * 1000;
  let id = 0;
  for (const text of saidInLife(length)) {
    id += 1;
    const at = new Date(end - (length - id) * 60_000).toISOString();
    const common = { id, at, cwd: '/', content: [{ type: 'text', text }] } as const;
    if (id % 2 === 1) yield { ...common, turn: id, role: 'user' };
    else yield { ...common, turn: id - 1, role: 'assistant', stop_reason: 'end' };
  }
}

/** The tokens of the bodies of small questions, each asked of a copy. */
async function sentTo(vendor: PricedVendor, data: string, count: number, root: string, clock: string) {
  const server = await startPricedServer(vendor);
  const own = homeIn(root, vendor, vendor, server);
  try {
    for (const question of smallQuestions(count)) {
      rmSync(own.data, { recursive: true, force: true });
      cpSync(data, own.data, { recursive: true });
      server.next({ files: [], answer: 'Yes.' }, 0);
      await run(['ask', question], own, clock, 0);
    }
    return server.bills.filter(({ isSummary }) => !isSummary).map(({ body }) => tokensOf(body));
  } finally {
    await server.close();
    rmSync(own.data, { recursive: true, force: true });
  }
}

/** What the first questions of two lives cost against fresh chats. */
async function lifeRows(root: string, clock: string): Promise<readonly Row[]> {
  let found: readonly Row[] = [];
  for (const [name, habits] of Object.entries(HABITS)) {
    const asked = questionsOf(habits, ASKED);
    const rows = PAID.map(async (vendor): Promise<readonly Row[]> => {
      const lasting = await billed(vendor, asked, { isFresh: false }, join(root, `${name}-${vendor}`), clock);
      const fresh = await billed(vendor, asked, { isFresh: true }, join(root, `${name}-${vendor}-fresh`), clock);
      const limit = name === 'daily' ? LIMITS.daily : LIMITS.light;
      return [
        {
          what: `${ASKED} questions of a ${name} life, ${RULES[vendor].model}: dollars against fresh chats`,
          value: paid(lasting) / paid(fresh),
          unit: '×',
          limit,
        },
        { what: 'the same: a question', value: (100 * paid(lasting)) / ASKED, unit: 'cents' },
        { what: 'the same: half of the requests send less', value: middleOf(lasting), unit: 'tokens' },
        { what: 'the same, in fresh chats', value: middleOf(fresh), unit: 'tokens' },
      ];
    });
    found = [...found, ...(await Promise.all(rows)).flat()];
  }
  return found;
}

const paid = (bills: readonly Billed[]): number => bills.reduce((sum, { dollars }) => sum + dollars, 0);
const middleOf = (bills: readonly Billed[]): number =>
  median(bills.filter(({ isSummary }) => !isSummary).map(({ all }) => all));

/** Asks the questions at their times; if `isFresh`, with a new history for each burst. */
async function billed(
  vendor: PricedVendor,
  questions: readonly Asked[],
  { isFresh }: { readonly isFresh: boolean },
  root: string,
  clock: string,
): Promise<readonly Billed[]> {
  const server = await startPricedServer(vendor);
  mkdirSync(root);
  const own = homeIn(root, 'own', vendor, server);
  const begin = Date.now();
  try {
    for (const [number, { at, isFirst, text, answer, reads }] of questions.entries()) {
      if (isFresh && isFirst) rmSync(own.data, { recursive: true, force: true });
      const files = reads.map((tokens, index) => {
        const name = `notes-${number}-${index}.txt`;
        writeFileSync(join(own.work, name), [...saidInLife(8)].join('\n').slice(0, 4 * tokens));
        return name;
      });
      server.next({ files, answer }, at);
      await run(['ask', '-'], own, clock, begin + 1000 * at - Date.now(), text);
    }
    return server.bills;
  } finally {
    await server.close();
  }
}

/** The folders of a user. */
interface Folders {
  readonly config: string;
  readonly data: string;
  readonly cache: string;
  readonly work: string;
}

/** A home with a configuration for the vendor, and with `more` of it. */
export function homeIn(
  root: string,
  name: string,
  vendor: PricedVendor,
  { base }: PricedServer,
  more: JsonObject = {},
): Folders {
  const own = join(root, `home-${name}`);
  const folder = (part: string): string => join(own, part);
  const folders = { config: folder('config'), data: folder('data'), cache: folder('cache'), work: folder('work') };
  for (const part of [folders.config, folders.cache, folders.work]) mkdirSync(part, { recursive: true });
  const { model, smallModel } = RULES[vendor];
  const settings = {
    provider: vendor,
    model,
    api_base: base,
    api_key: 'k',
    small_model: { model: smallModel },
    ...more,
  };
  writeFileSync(join(folders.config, 'config.json'), JSON.stringify(settings), { mode: 0o600 });
  return folders;
}

/** Runs the built program with its clock moved by so many milliseconds. Rejects if it fails. */
export async function run(
  args: readonly string[],
  { config, data, cache, work }: Folders,
  clock: string,
  moved: number,
  input = '',
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const env = {
    ...more,
    PATH: process.env.PATH,
    HOME: work,
    HI_CONFIG_DIR: config,
    HI_DATA_DIR: data,
    HI_CACHE_DIR: cache,
    HI_BENCH_CLOCK: String(moved),
  };
  const command = ['--require', clock, PROGRAM, ...args];
  const child = spawn(process.execPath, command, { env, cwd: work, stdio: ['pipe', 'ignore', 'pipe'] });
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk;
  });
  child.stdin.end(input);
  const status = await new Promise((done) => child.once('close', done));
  if (status !== 0) throw new Error(`'hi ${args.join(' ')}' exited with ${status}: ${complaints}`);
}
