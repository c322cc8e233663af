import type { ChatEvent } from '../../chat/event.js';
import type { Connections } from './connections.js';

/** The same events, with the cost of all requests of a turn added to its end: null unless the price of each is known. */
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
    const { costOf, wholeCost } = await import('./price.js');
    const cost = wholeCost(costOf(connections.spent.slice(from)));
    from = connections.spent.length;
    yield { ...event, cost };
  }
}
