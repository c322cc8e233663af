import type { ChatEvent } from '../../chat/event.js';
import type { Connections } from './connections.js';
import { costOf, wholeCost } from './price.js';

/** The same events, with the cost of a turn's requests added to its `turn-end`: null unless the price of every request is known. */
export async function* withCost(
  events: AsyncIterable<ChatEvent>,
  connections: Pick<Connections, 'spent'>,
): AsyncGenerator<ChatEvent> {
  let from = connections.spent.length;
  for await (const event of events) {
    if (event.type !== 'turn-end') {
      yield event;
      continue;
    }
    const cost = wholeCost(costOf(connections.spent.slice(from)));
    from = connections.spent.length;
    yield { ...event, cost };
  }
}
