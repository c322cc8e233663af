import { bookNamed, messagesOf } from '../../books/book.js';
import { dollarText, localMinute, quantity } from '../../chat/text.js';
import { shortCount } from '../../chat/transcript.js';
import { prepareCodec } from '../../history/file/codec.js';
import { HistoryStore } from '../../history/store.js';
import { parseTime } from '../../recall/show/passage.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { colours, writeJson } from '../base/command-output.js';
import type { CommonOptions } from '../base/options.js';
import { outputStreams, printHistoryNotices } from '../base/output.js';
import { readSettings, type SettingsOptions } from '../base/settings.js';
import type { World } from '../base/world.js';
import { limitLines } from '../wiring/limited-provider.js';
import { costOf, costText, recordsOf, type UsageRecord, wholeCost } from '../wiring/price.js';

/** How requests are grouped. */
type UsagePeriod = 'day' | 'month' | 'model' | 'server';

interface UsageOptions extends CommonOptions, SettingsOptions {
  readonly by?: UsagePeriod;
  readonly since?: string;
  readonly until?: string;
  /** The book that is counted in place of the conversation. */
  readonly in?: string;
  readonly json?: boolean;
}

/** The longest bar, in columns. */
const LONGEST_BAR = 30;

/**
 * Prints what the conversation, or a book, used: tokens and cost at published prices, by day, month, model or server.
 * Resolves to the exit status. Throws `HiError`s.
 */
export async function usageCommand(world: World, options: UsageOptions): Promise<number> {
  const { by = 'day' } = options;
  const since = options.since === undefined ? null : parseTime(options.since, world.now(), false);
  const until = options.until === undefined ? null : parseTime(options.until, world.now(), true);
  const settings = await readSettings(world, options);
  const server = { provider: settings.config?.provider ?? '', api_base: settings.config?.api_base ?? null };
  const groups = new Map<string, UsageRecord[]>();
  const group = (record: UsageRecord): void => {
    const isIn = (since === null || record.at >= since) && (until === null || record.at <= until);
    if (!isIn) return;
    const key = keyOf(record, by);
    const held = groups.get(key);
    if (held === undefined) groups.set(key, [record]);
    else held.push(record);
  };
  if (options.in !== undefined)
    for (const record of await recordsOfBook(settings.paths.imports, options.in)) group(record);
  else {
    const history = await HistoryStore.open({ folder: settings.paths.data, now: world.now });
    try {
      printHistoryNotices(world, history);
      for await (const record of recordsOf(history, server)) group(record);
    } finally {
      await history.close();
    }
  }
  const rows = [...groups].sort(([first], [second]) => first.localeCompare(second));
  if (options.json) {
    const all = rows.map(([key, records]) => ({ [by]: key, ...totalsOf(records) }));
    writeJson(world.stdout, all, 2);
    return 0;
  }
  printTable(world, rows);
  const { limit } = settings.config ?? {};
  const isLimited = limit !== undefined && options.in === undefined;
  const lines = isLimited ? limitLines(limit, settings.paths.ledger, () => world.now()) : [];
  if (lines.length > 0) world.stdout.write(`${lines.join('\n')}\n`);
  return 0;
}

/** What a book records of its requests: few sources do. Throws a `HiError` of code `usage` if there is no such book. */
async function recordsOfBook(folder: string, name: string): Promise<readonly UsageRecord[]> {
  await prepareCodec();
  const book = bookNamed(folder, name);
  const records: UsageRecord[] = [];
  for (const { usage, model = 'unknown', at, provider = book.name } of messagesOf(book))
    if (usage !== undefined) records.push({ usage, model, provider, at: new Date(at) });
  return records;
}

function keyOf({ at, provider, model, server, api_base }: UsageRecord, by: UsagePeriod): string {
  if (by === 'model') return `${provider}/${model}`;
  if (by === 'server')
    return server ?? (api_base !== undefined && URL.canParse(api_base) ? new URL(api_base).host : provider);
  if (Number.isNaN(at.getTime())) return 'no time';
  return localMinute(at.toISOString()).slice(0, by === 'day' ? 10 : 7);
}

interface UsageTotals {
  readonly requests: number;
  readonly input_tokens: number;
  readonly cached_tokens: number;
  readonly output_tokens: number;
  /** US dollars; null where the price of a request is unknown. */
  readonly cost: number | null;
}

function totalsOf(records: readonly UsageRecord[]): UsageTotals {
  const sum = (count: (usage: UsageRecord['usage']) => number): number =>
    records.reduce((total, { usage }) => total + count(usage), 0);
  return {
    requests: records.length,
    input_tokens: sum((usage) => usage.input_tokens),
    cached_tokens: sum((usage) => usage.cached_tokens),
    output_tokens: sum((usage) => usage.output_tokens),
    cost: wholeCost(costOf(records)),
  };
}

function printTable(world: World, rows: readonly (readonly [string, readonly UsageRecord[]])[]): void {
  const { stdout } = world;
  if (rows.length === 0) {
    stdout.write('No tokens were used.\n');
    return;
  }
  const cells = rows.map(([key, records]) => cellsOf(key, records));
  const total = rows.flatMap(([, records]) => records);
  const lines = [...cells, cellsOf('total', total)];
  const widths = (lines[0] ?? []).map((_, column) =>
    lines.reduce((widest, line) => Math.max(widest, line[column]?.length ?? 0), 0),
  );
  const room = outputStreams(world).columns() - widths.reduce((sum, width) => sum + width + 2, 0);
  const bars = barsOf(
    rows.map(([, records]) => tokensOf(records)),
    Math.min(LONGEST_BAR, room),
  );
  const { blue, bold } = colours(world);
  lines.forEach((line, row) => {
    const text = line.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    const shown = neutralise(text.join('  '));
    stdout.write(
      row === cells.length ? `${bold(shown.trimEnd())}\n` : `${`${shown}  ${blue(bars[row] ?? '')}`.trimEnd()}\n`,
    );
  });
  const cost = costOf(total);
  if ((cost.unknown.length > 0 && cost.priced > 0) || cost.hasGifts)
    stdout.write(neutralise(`cost: ${costText(cost)}\n`));
}

function cellsOf(key: string, records: readonly UsageRecord[]): readonly string[] {
  const { requests, input_tokens, cached_tokens, output_tokens } = totalsOf(records);
  const { dollars, priced } = costOf(records);
  return [
    key,
    quantity(requests, 'answer'),
    `${shortCount(input_tokens)} in`,
    `${shortCount(cached_tokens)} cached`,
    `${shortCount(output_tokens)} out`,
    priced === 0 ? 'cost unknown' : dollarText(dollars),
  ];
}

const tokensOf = (records: readonly UsageRecord[]): number =>
  records.reduce((sum, { usage }) => sum + usage.input_tokens + usage.output_tokens, 0);

/** A bar for each number, the largest one `longest` columns long; none where there is no room. */
function barsOf(numbers: readonly number[], longest: number): readonly string[] {
  const largest = numbers.reduce((most, number) => Math.max(most, number), 1);
  return numbers.map((number) =>
    longest < 5 || number === 0 ? '' : '█'.repeat(Math.max(1, Math.round((number / largest) * longest))),
  );
}
