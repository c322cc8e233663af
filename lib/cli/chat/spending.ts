import { calcPrice } from '@pydantic/genai-prices';
import { shortCount } from '../../chat/transcript.js';
import { providers } from '../../providers/index.js';
import type { UsageRecord } from '../wiring/connections.js';

/** What this chat has used and what that costs by the published prices, as lines of `/status`. Brings the price table, so it is loaded when it is asked for. */
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
  if (known.length === 0) return `no price is known for ${unknown}`;
  const dollars = known.reduce((total, price) => total + price, 0);
  return `about $${dollars.toFixed(dollars < 0.1 ? 4 : 2)}${unknown === '' ? '' : `, without ${unknown}, whose price is not known`}`;
}

/** In dollars; null when it is not known. Behind an address of the user's own, only what is known of that address counts: the same name may cost nothing there. */
function priceOf({ provider, model, api_base, at, usage }: UsageRecord): number | null {
  const providerId = providers.find(({ name }) => name === provider)?.priceId ?? provider;
  const seller = api_base === null ? { providerId } : { providerApiUrl: api_base };
  const { input_tokens, output_tokens, cached_tokens } = usage;
  // The table throws where a part is more than the whole, as some servers tell.
  const cache_read_tokens = Math.min(cached_tokens, input_tokens);
  const price = calcPrice({ input_tokens, output_tokens, cache_read_tokens }, model, { ...seller, timestamp: at });
  return price === null ? null : price.total_price;
}
