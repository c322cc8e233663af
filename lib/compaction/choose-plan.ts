import { isMessage } from '../chat/entry.js';
import { pick } from '../registry.js';
import { newestBlock } from '../view/view.js';
import { strategies } from './index.js';
import type { CompactionInput, Plan, Strategy } from './strategy.js';

/** The configured strategy and its plan, or null when there is nothing to compact. Pure. Throws for an unknown strategy. */
export function passFor(input: CompactionInput): { readonly strategy: Strategy; readonly plan: Plan } | null {
  const strategy = pick(strategies, input.settings.strategy, 'compaction strategy');
  if (isDone(input)) return null;
  const plan = strategy.plan(input);
  return plan.changes ? { strategy, plan } : null;
}

/** True when there are no messages since the last pass of this strategy, so that another pass would change nothing. */
function isDone({ entries, settings, reason }: CompactionInput): boolean {
  const block = newestBlock(entries);
  if (block === null || reason === 'overflow') return false;
  if (block.source === 'fallback' || block.strategy !== settings.strategy) return false;
  return !entries.some((entry) => isMessage(entry) && entry.id > block.id);
}
