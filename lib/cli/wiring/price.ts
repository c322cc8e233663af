import { calcPrice, findProvider, type ModelPrice, type PriceOptions } from '@pydantic/genai-prices';
import { type CompressBlock, type Entry, isCompressBlock, isMessage } from '../../chat/entry.js';
import type { ChatEvent, RequestUsage } from '../../chat/event.js';
import type { PriceRow, Vendor } from '../../chat/model.js';
import { dollarText } from '../../chat/text.js';
import { shortCount } from '../../chat/transcript.js';
import type { HistoryStore } from '../../history/store.js';
import { isNear } from '../../http/address.js';
import { providers } from '../../providers/index.js';
import type { Target } from '../../session/common/deps.js';
import type { Reply } from '../../session/several-answers.js';

/** The usage of one answer or summary, and when it was written. */
export interface UsageRecord extends RequestUsage {
  readonly at: Date;
}

/** The total cost of some requests. */
interface Cost {
  /** US dollars, for the requests whose price is known. */
  readonly dollars: number;
  /** The models that have no published price, each once. */
  readonly unknown: readonly string[];
  /** How many requests have a price. */
  readonly priced: number;
  /** Whether the dollars include searches of which the vendor gives some away. */
  readonly hasGifts: boolean;
  /** Whether all of it ran on machines of the user's own. */
  readonly isOwn: boolean;
}

/** The cost at published prices. Loads the table of prices, so this module is imported on demand. */
export function costOf(records: Iterable<UsageRecord>): Cost {
  const unknown = new Set<string>();
  let [dollars, priced, hasGifts, isOwn] = [0, 0, false, true];
  for (const record of records) {
    const price = priceOf(record);
    hasGifts ||= hasFreeSearches(record);
    isOwn &&= price === 0 && record.usage.billing?.cost === undefined;
    if (price === null) unknown.add(record.model);
    else {
      dollars += price;
      priced += 1;
    }
  }
  return { dollars, unknown: [...unknown], priced, hasGifts, isOwn };
}

/** Google gives some searches of each month away, and does not say which. */
const hasFreeSearches = ({ provider, usage: { billing = {} } }: UsageRecord): boolean =>
  billing.cost === undefined &&
  (billing.web_searches ?? 0) > 0 &&
  providers.find(({ name }) => name === provider)?.searchPrice !== undefined;

/** The dollars for JSON: null unless the price of every request is known. */
export const wholeCost = ({ dollars, unknown, priced }: Cost): number | null =>
  unknown.length === 0 && priced > 0 ? Number(dollars.toPrecision(6)) : null;

/**
 * The cost in words: `about $0.0123`, a lower bound if some of it is unknown, an upper one if some of it may be free,
 * or that all is unknown.
 */
export function costText({ dollars, unknown, priced, hasGifts, isOwn }: Cost): string {
  const names = unknown.join(', ');
  if (priced === 0) return names === '' ? 'none' : `unknown: no published price for ${names}`;
  if (names === '' && dollars === 0) return isOwn ? 'nothing: it ran on a server of your own' : 'nothing';
  const given = 'without the searches that Google gives away each month';
  if (names === '') return hasGifts ? `at most ${dollarText(dollars)}, ${given}` : `about ${dollarText(dollars)}`;
  return `at least ${dollarText(dollars)}: no published price for ${names}`;
}

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

/**
 * The usage of an entry; null if it has none. Where an answer of the provider in use names no address, that in use
 * counts.
 */
function recordOf(entry: Entry, { provider: own, api_base }: ServerNow): UsageRecord | null {
  if (!(isMessage(entry) || isCompressBlock(entry)) || !entry.usage || entry.model === undefined) return null;
  const { usage, model, at, server, provider = own } = entry;
  const address = entry.api_base ?? (provider === own ? (api_base ?? undefined) : undefined);
  return { provider, model, api_base: address, server, at: new Date(at), usage };
}

/**
 * In dollars; null if unknown. What a gateway reported comes first, then the model that the answer named. For a custom
 * address only that address's own prices count: a model of the same name may be free there.
 */
function priceOf({ provider, model, api_base, at, usage }: UsageRecord): number | null {
  const { input_tokens, output_tokens, cached_tokens, billing = {} } = usage;
  if (billing.cost !== undefined) return billing.cost;
  const vendor = providers.find(({ name }) => name === provider);
  if (isOwn(vendor, api_base, model)) return 0;
  const providerId = vendor?.priceId ?? provider;
  const seller = api_base === undefined ? sellerOf(vendor, providerId) : { providerApiUrl: api_base };
  // The table throws when a part exceeds the whole, which some servers report.
  const cache_read_tokens = Math.min(cached_tokens, input_tokens);
  const cache_write_tokens = Math.min(billing.cache_write_tokens ?? 0, input_tokens - cache_read_tokens);
  const cache_write_1h_tokens = Math.min(billing.cache_write_1h_tokens ?? 0, cache_write_tokens);
  const { web_searches = 0 } = billing;
  const counted = {
    ...{ input_tokens, output_tokens, cache_read_tokens },
    ...(cache_write_tokens > 0 && { cache_write_tokens }),
    ...(cache_write_1h_tokens > 0 && { cache_write_1h_tokens }),
    ...(web_searches > 0 && { web_searches }),
  };
  for (const name of [billing.model ?? model, model]) {
    const price = calcPrice(counted, name, { ...seller, timestamp: at });
    if (price === null) continue;
    const isSearchPriced = price.model_price.web_searches_kcount !== undefined;
    return price.total_price + (isSearchPriced ? 0 : web_searches * (vendor?.searchPrice?.(name) ?? 0));
  }
  return null;
}

/**
 * Whether the model runs on a machine of the user's own, where it costs nothing. A gateway there may sell the models of
 * vendors, whose names tell, and a local Ollama passes on to its cloud.
 */
function isOwn(vendor: Vendor | undefined, api_base: string | undefined, model: string): boolean {
  if (vendor === undefined || /[:-]cloud$/.test(model)) return false;
  const name = model.slice(model.lastIndexOf('/') + 1);
  if (providers.some(({ ownNames }) => ownNames?.test(name))) return false;
  return api_base === undefined ? vendor.keyVariables.length === 0 : isNear(api_base);
}

/** The vendor in the table, with the prices that the table lacks. */
function sellerOf(vendor: Vendor | undefined, providerId: string): PriceOptions {
  const provider = findProvider({ providerId });
  if (provider === undefined || vendor?.prices === undefined) return { providerId };
  const models = vendor.prices.map((row) => ({
    id: row.name,
    match: { or: [{ equals: row.name }, { starts_with: `${row.name}-20` }, { starts_with: `${row.name}@` }] },
    prices: pricesOf(row),
  }));
  return { provider: { ...provider, models: [...models, ...provider.models] } };
}

/**
 * A row in the form of the table. Writing to a cache costs a quarter more than reading the tokens, for an hour twice as
 * much.
 */
function pricesOf({ input, cached, output, step }: PriceRow): ModelPrice {
  const stepped = (base: number, factor: number) =>
    step === undefined ? base : { base, tiers: [{ start: step.above, price: base * factor }] };
  return {
    input_mtok: stepped(input, step?.input ?? 1),
    cache_read_mtok: stepped(cached, step?.input ?? 1),
    cache_write_mtok: stepped(input * 1.25, step?.input ?? 1),
    cache_write_1h_mtok: stepped(input * 2, step?.input ?? 1),
    output_mtok: stepped(output, step?.output ?? 1),
    web_searches_kcount: 10,
  };
}

/**
 * The same events, with the cost of the requests of a turn, those for its summaries included, added to its `turn-end`:
 * null unless the price of every request is known.
 */
export async function* withCost(events: AsyncIterable<ChatEvent>, now: () => Date): AsyncGenerator<ChatEvent> {
  let records: UsageRecord[] = [];
  for await (const event of events) {
    if (event.type === 'usage') records.push({ ...event, at: now() });
    if (event.type !== 'turn-end') {
      yield event;
      continue;
    }
    yield { ...event, cost: wholeCost(costOf(records)) };
    records = [];
  }
}

/**
 * The lines of `/status` that say what this chat used and what that costs at published prices. Loads the price table,
 * so it is imported on demand.
 */
export function spendingText(used: readonly UsageRecord[]): string {
  if (used.length === 0) return 'tokens       none in this chat yet';
  const sum = (count: (usage: UsageRecord['usage']) => number): string =>
    shortCount(used.reduce((total, { usage }) => total + count(usage), 0));
  const tokens = `${sum((usage) => usage.input_tokens)} in (${sum((usage) => usage.cached_tokens)} cached), ${sum((usage) => usage.output_tokens)} out`;
  return [`tokens       ${tokens} in this chat`, `cost         ${costText(costOf(used))}`].join('\n');
}

/** What `/cost` prints: the same, and the cost of the whole conversation. */
export async function fullSpendingText(
  used: readonly UsageRecord[],
  history: HistoryStore,
  server: { readonly provider: string; readonly api_base: string | null },
): Promise<string> {
  const whole = costText(await conversationCost(history, server));
  return `${spendingText(used)}\nconversation ${whole}`;
}

/**
 * What something costs if the vendor has to read all of it, and if it has it in its cache. Null where that is unknown.
 */
interface ColdAndWarm {
  readonly cold: number | null;
  readonly warm: number | null;
}

/** What a question costs before its answer. */
export interface QuestionCost {
  readonly tokens: number;
  /** US dollars at published prices. */
  readonly dollars: ColdAndWarm;
  /** The seconds until the answer begins. */
  readonly seconds: ColdAndWarm;
}

/**
 * How long the first word of an answer takes: 187,363 tokens in 6.9 s, according to Anthropic's cookbook on prompt
 * caching; others are in that order. How fast a server of the user's own reads is unknown.
 */
const LEAST_SECONDS = 0.6;
const READ_A_SECOND = 30_000;
const CACHED_A_SECOND = 150_000;

/** What a question of so many tokens costs. Loads the table of prices, so this module is imported on demand. */
export function questionCost(
  { provider, model, api_base, isNear }: PricedModel,
  tokens: number,
  at: Date,
): QuestionCost {
  const price = (cached_tokens: number): number | null => {
    // What was not in the cache is written into it.
    const billing = { cache_write_tokens: tokens - cached_tokens };
    const usage = { input_tokens: tokens, output_tokens: 0, context_tokens: tokens, cached_tokens, billing };
    return priceOf({ provider, model, api_base, at, usage });
  };
  const seconds = (speed: number): number | null =>
    isNear ? null : Number((LEAST_SECONDS + tokens / speed).toFixed(1));
  return {
    tokens,
    dollars: {
      cold: price(0),
      warm: price(tokens),
    },
    seconds: { cold: seconds(READ_A_SECOND), warm: seconds(CACHED_A_SECOND) },
  };
}

/**
 * What a million tokens cost, in words: `$2.00 in, $10.00 out`, `free` at a server of the user's own, `price unknown`.
 */
export function ratesText(target: PricedModel, at: Date): string {
  const { provider, model, api_base, isNear } = target;
  if (isNear) return 'free';
  const rate = (usage: { readonly input_tokens: number; readonly output_tokens: number }): number | null => {
    const whole = { ...usage, cached_tokens: 0, context_tokens: RATED };
    const price = priceOf({ provider, model, api_base, at, usage: whole });
    return price === null ? null : price * (1_000_000 / RATED);
  };
  const [input, output] = [
    rate({ input_tokens: RATED, output_tokens: 0 }),
    rate({ input_tokens: 0, output_tokens: RATED }),
  ];
  return input === null || output === null ? 'price unknown' : `${dollarText(input)} in, ${dollarText(output)} out`;
}

/** Who answered one of several questions, with the cost; or why there is no answer. */
export function replyLine({ name, target, report, failure }: Reply, at: Date): string {
  if (target === null || report === null) return `${name}: ${failure?.message ?? 'no answer'}`;
  const { provider, model, api_base } = target;
  const cost = costText(costOf([{ provider, model, api_base, at, usage: report.usage }]));
  return `${name} (${provider}/${model}) · ${target.isNear ? 'free' : cost}`;
}

/** A prompt of so many tokens costs what most do: some models cost more in longer ones. */
const RATED = 1000;

/** The price in dollars from which a question with everything is asked about. */
const DEAR = 0.25;

/** Whether to ask first. A price that is unknown may be high, but for a server of the user's own. */
export function isDear({ dollars: { cold } }: QuestionCost, { isNear }: PricedModel): boolean {
  return cold === null ? !isNear : cold > DEAR;
}

type PricedModel = Pick<Target, 'provider' | 'model' | 'api_base' | 'isNear'>;

/** `8.3k tokens, without the answer: $0.0213 and 0.9 s, $0.0009 and 0.7 s while the vendor has it cached`. */
export function costLine({ tokens, dollars, seconds }: QuestionCost): string {
  const size = `${shortCount(tokens)} tokens, without the answer`;
  if (dollars.cold === 0) return [`${size}: costs nothing`, ...inSeconds(seconds.cold)].join(' and ');
  const cold = [dollars.cold === null ? 'price unknown' : dollarText(dollars.cold), ...inSeconds(seconds.cold)];
  const warm = [...(dollars.warm === null ? [] : [dollarText(dollars.warm)]), ...inSeconds(seconds.warm)];
  return `${size}: ${cold.join(' and ')}${warm.length === 0 ? '' : `; ${warm.join(' and ')} while the vendor has it cached`}`;
}

const inSeconds = (seconds: number | null): readonly string[] => (seconds === null ? [] : [`${seconds} s`]);
