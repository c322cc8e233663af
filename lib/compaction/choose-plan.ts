import { isMessage } from '../chat/message.js';
import { pick } from '../registry.js';
import { newestBlock } from '../view/view.js';
import { strategies } from './index.js';
import type { CompactionInput, Plan, Strategy } from './strategy.js';

/** The strategy that the settings name and what it would do, or null when there is nothing to compact. Pure. Throws when the strategy is unknown. */
export function passFor(input: CompactionInput): { readonly strategy: Strategy; readonly plan: Plan } | null {
  const strategy = pick(strategies, input.settings.strategy, 'compaction strategy');
  if (isDone(input)) return null;
  const plan = strategy.plan(input);
  return plan.changes ? { strategy, plan } : null;
}

/** True when nothing came since a pass of this strategy: a second one would have nothing new to work on. */
function isDone({ entries, settings, reason }: CompactionInput): boolean {
  const block = newestBlock(entries);
  if (block === null || reason === 'overflow') return false;
  if (block.source === 'fallback' || block.strategy !== settings.strategy) return false;
  return !entries.some((entry) => isMessage(entry) && entry.id > block.id);
}
