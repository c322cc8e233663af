import type { ModelFacts, ModelMemory } from '../../lib/chat/model-facts.js';
import { mergeFacts } from '../../lib/providers/common/known-models.js';

/** What is learnt of a model, for one spec. */
export function memory(facts: ModelFacts = {}): ModelMemory {
  let known = facts;
  return {
    get facts() {
      return known;
    },
    learn(more) {
      known = mergeFacts(known, more);
    },
  };
}
