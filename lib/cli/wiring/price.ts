import { calcPrice } from '@pydantic/genai-prices';
import { type CompressBlock, type Entry, isCompressBlock, isMessage } from '../../chat/entry.js';
import type { HistoryStore } from '../../history/store.js';
import { providers } from '../../providers/index.js';
import type { UsageRecord } from './connections.js';

/** The total cost of some requests. */
export interface Cost {
  /** US dollars, for the requests whose price is known. */
  readonly dollars: number;
  /** The models that have no published price, each once. */
  readonly unknown: readonly string[];
  /** How many requests have a price. */
  readonly priced: number;
}

/** The cost at published prices. Loads the table of prices, so this module is imported on demand. */
export function costOf(records: Iterable<UsageRecord>): Cost {
  const unknown = new Set<string>();
  let dollars = 0;
  let priced = 0;
  for (const record of records) {
    const price = priceOf(record);
    if (price === null) unknown.add(record.model);
    else {
      dollars += price;
      priced += 1;
    }
  }
  return { dollars, unknown: [...unknown], priced };
}

/** The dollars for JSON: null unless the price of every request is known. */
export const wholeCost = ({ dollars, unknown, priced }: Cost): number | null =>
  unknown.length === 0 && priced > 0 ? Number(dollars.toPrecision(6)) : null;

/** The cost in words: `about $0.0123`, or that it is unknown. */
export function costText({ dollars, unknown, priced }: Cost): string {
  const names = unknown.join(', ');
  if (priced === 0) return names === '' ? 'none' : `unknown: no published price for ${names}`;
  return `about ${dollarText(dollars)}${names === '' ? '' : `, not counting ${names} (no published price)`}`;
}

/** `$0.0123`, `$12.30`. */
export const dollarText = (dollars: number): string => `$${dollars.toFixed(dollars < 0.1 ? 4 : 2)}`;

/** The cost of the whole conversation, as far as its messages record it. */
export async function conversationCost(history: HistoryStore, server: ServerNow): Promise<Cost> {
  const records: UsageRecord[] = [];
  for await (const record of recordsOf(history, server)) records.push(record);
  return costOf(records);
}

/** The provider in use and its address. */
interface ServerNow {
  readonly provider: string;
  readonly api_base: string | null;
}

/** The usage of each request of the conversation, as far as its messages record it. */
export async function* recordsOf(history: HistoryStore, server: ServerNow): AsyncGenerator<UsageRecord> {
  for await (const entry of history.archive()) {
    const record = recordOf(entry, server);
    if (record !== null) yield record;
  }
}

/** The cost of each compaction's summary in words, by its id. Leaves out those whose price is unknown. */
export function compactionCosts(blocks: readonly CompressBlock[], server: ServerNow): ReadonlyMap<number, string> {
  const costs = new Map<number, string>();
  for (const block of blocks) {
    const record = recordOf(block, server);
    const cost = record === null ? null : costOf([record]);
    if (cost !== null && cost.priced > 0) costs.set(block.id, costText(cost));
  }
  return costs;
}

/** The usage of an entry; null if it has none. For answers without an address, from earlier versions, the provider's current address counts. */
function recordOf(entry: Entry, { provider: own, api_base }: ServerNow): UsageRecord | null {
  if (!(isMessage(entry) || isCompressBlock(entry)) || !entry.usage || entry.model === undefined) return null;
  const { usage, model, at, provider = own } = entry;
  const address = entry.api_base ?? (provider === own ? api_base : null);
  return { provider, model, api_base: address, at: new Date(at), usage };
}

/** In dollars; null if unknown. For a custom address only that address's own prices count: a model of the same name may be free there. */
function priceOf({ provider, model, api_base, at, usage }: UsageRecord): number | null {
  const providerId = providers.find(({ name }) => name === provider)?.priceId ?? provider;
  const seller = api_base === null ? { providerId } : { providerApiUrl: api_base };
  const { input_tokens, output_tokens, cached_tokens } = usage;
  // The table throws when a part exceeds the whole, which some servers report.
  const cache_read_tokens = Math.min(cached_tokens, input_tokens);
  const price = calcPrice({ input_tokens, output_tokens, cache_read_tokens }, model, { ...seller, timestamp: at });
  return price === null ? null : price.total_price;
}
