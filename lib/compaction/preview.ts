import type { Tokens } from '../chat/request.js';
import { passFor } from './choose-plan.js';
import { sizeAfter } from './plan.js';
import type { CompactionInput } from './strategy.js';

/** What a pass would do. */
export interface Preview {
  readonly strategy: string;
  readonly messages_compacted: number;
  readonly messages_kept: number;
  readonly tokens_before: Tokens;
  /** The size of the kept messages, without the summary. */
  readonly tokens_kept: Tokens;
}

/** What `compact` would do with this input, or null when there is nothing to compact. Asks no model. Throws for an unknown strategy. */
export function preview(input: CompactionInput): Preview | null {
  const pass = passFor(input);
  if (pass === null) return null;
  const { strategy, plan } = pass;
  return {
    strategy: strategy.name,
    messages_compacted: plan.leaving,
    messages_kept: plan.kept.length,
    tokens_before: plan.tokens_before,
    tokens_kept: sizeAfter(input, plan, ''),
  };
}
