import type { StreamEvent } from '../../../chat/event.js';
import { isJsonObject } from '../../../chat/json.js';
import type { Usage } from '../../../chat/message.js';

/**
 * The event, checked against its type: a server may send anything in place of a text, a name or a number, and the event goes into the history and every later
 * request. A wrong value that only adds to an answer is left out; any other throws a `TypeError`.
 */
export function validEvent(event: StreamEvent): StreamEvent {
  switch (event.type) {
    case 'text':
    case 'thinking':
      mustBeText(event.text);
      return event;
    case 'part':
      if (event.part.type === 'tool_call') {
        mustBeText(event.part.name);
        mustBeText(event.part.call_id);
        if (!isJsonObject(event.part.args)) throw new TypeError('The arguments are not an object.');
      }
      return event;
    case 'end': {
      const { model, detail, usage, ...rest } = event;
      return {
        ...rest,
        usage: usage !== null && isCounted(usage) ? usage : null,
        ...(typeof model === 'string' && { model }),
        ...(typeof detail === 'string' && { detail }),
      };
    }
    default:
      return event;
  }
}

function mustBeText(value: unknown): void {
  if (typeof value !== 'string') throw new TypeError('There is no text.');
}

function isCounted(usage: Usage): boolean {
  return Object.values(usage).every((count) => Number.isSafeInteger(count) && count >= 0);
}
