import { type ModelFacts, type ModelMemory, mergeFacts } from '../../lib/chat/model.js';

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
