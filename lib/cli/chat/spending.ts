import { calcPrice } from '@pydantic/genai-prices';
import { shortCount } from '../../chat/transcript.js';
import { providers } from '../../providers/index.js';
import type { UsageRecord } from '../wiring/connections.js';

/** The lines of `/status` that say what this chat used and what that costs at published prices. Loads the price table, so it is imported on demand. */
export function spendingText(spent: readonly UsageRecord[]): string {
  if (spent.length === 0) return 'tokens       none used in this chat yet';
  const sum = (count: (usage: UsageRecord['usage']) => number): string =>
    shortCount(spent.reduce((total, { usage }) => total + count(usage), 0));
  const tokens = `${sum((usage) => usage.input_tokens)} in (${sum((usage) => usage.cached_tokens)} cached), ${sum((usage) => usage.output_tokens)} out`;
  return [`tokens       ${tokens} in this chat`, `cost         ${costText(spent)}`].join('\n');
}

function costText(spent: readonly UsageRecord[]): string {
  const prices = spent.map((one) => ({ model: one.model, price: priceOf(one) }));
  const unknown = [...new Set(prices.filter(({ price }) => price === null).map(({ model }) => model))].join(', ');
  const known = prices.flatMap(({ price }) => (price === null ? [] : [price]));
  if (known.length === 0) return `unknown: no published price for ${unknown}`;
  const dollars = known.reduce((total, price) => total + price, 0);
  return `about $${dollars.toFixed(dollars < 0.1 ? 4 : 2)}${unknown === '' ? '' : `, not counting ${unknown} (no published price)`}`;
}

/** In dollars; null when unknown. Behind a custom address only that address's prices count: a model of the same name may be free there. */
function priceOf({ provider, model, api_base, at, usage }: UsageRecord): number | null {
  const providerId = providers.find(({ name }) => name === provider)?.priceId ?? provider;
  const seller = api_base === null ? { providerId } : { providerApiUrl: api_base };
  const { input_tokens, output_tokens, cached_tokens } = usage;
  // The table throws when a part exceeds the whole, which some servers report.
  const cache_read_tokens = Math.min(cached_tokens, input_tokens);
  const price = calcPrice({ input_tokens, output_tokens, cache_read_tokens }, model, { ...seller, timestamp: at });
  return price === null ? null : price.total_price;
}
