import type { StreamEvent } from '../../../chat/event.js';
import { isJsonObject } from '../../../chat/json.js';
import type { Usage } from '../../../chat/message.js';

/**
 * Checks an event at run time: a server may send any value instead of a text, a name or a number, and the event goes into the history and all later
 * requests. Drops an invalid value that is not essential; throws a `TypeError` for any other.
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
  if (typeof value !== 'string') throw new TypeError('The text is missing.');
}

function isCounted(usage: Usage): boolean {
  const { input_tokens, output_tokens, cached_tokens, context_tokens } = usage;
  return [input_tokens, output_tokens, cached_tokens, context_tokens].every(
    (count) => Number.isSafeInteger(count) && count >= 0,
  );
}
