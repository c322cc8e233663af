import { shortCount } from '../../chat/transcript.js';
import type { HistoryStore } from '../../history/store.js';
import type { Connections, UsageRecord } from '../wiring/connections.js';
import { conversationCost, costOf, costText } from '../wiring/price.js';

/** The lines of `/status` that say what this chat used and what that costs at published prices. Loads the price table, so it is imported on demand. */
export function spendingText(spent: readonly UsageRecord[]): string {
  if (spent.length === 0) return 'tokens       none in this chat yet';
  const sum = (count: (usage: UsageRecord['usage']) => number): string =>
    shortCount(spent.reduce((total, { usage }) => total + count(usage), 0));
  const tokens = `${sum((usage) => usage.input_tokens)} in (${sum((usage) => usage.cached_tokens)} cached), ${sum((usage) => usage.output_tokens)} out`;
  return [`tokens       ${tokens} in this chat`, `cost         ${costText(costOf(spent))}`].join('\n');
}

/** What `/cost` prints: the same, and the cost of the whole conversation. */
export async function fullSpendingText(
  connections: Connections,
  history: HistoryStore,
  server: { readonly provider: string; readonly api_base: string | null },
): Promise<string> {
  const whole = costText(await conversationCost(history, server));
  return `${spendingText(connections.spent)}\nconversation ${whole}`;
}
