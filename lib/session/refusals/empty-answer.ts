import type { StreamEvent } from '../../chat/event.js';
import type { ChatRequest } from '../../chat/request.js';
import { HiError } from '../../errors.js';
import { RequestRefusal, UNSAID } from '../../providers/common/provider.js';
import { LEAST_WINDOW } from './earlier-messages.js';

/** Below it a model has written nothing: some servers count the end of the answer. */
const MOST_OF_NOTHING = 1;

/**
 * The failure that an answer without anything in it stands for, null where it is one. Servers say "stop" to what they cannot take, and "length" to a prompt
 * that leaves no room for a word. After the results of tools a model may have nothing to add.
 */
export function failureOfEmpty(
  { messages, model, estimated_tokens, max_output_tokens }: ChatRequest,
  { stop_reason, usage }: Extract<StreamEvent, { type: 'end' }>,
  isLast: boolean,
): HiError | null {
  const wrote = usage?.output_tokens ?? 0;
  if (stop_reason === 'length' && wrote <= MOST_OF_NOTHING && max_output_tokens === null) {
    if (messages.length < 2 || estimated_tokens < LEAST_WINDOW) return null;
    return new HiError('window', `The conversation leaves '${model}' no room for a word of its answer.`, {
      hint: 'Shorten the conversation with /compact, or correct context_window in the configuration.',
    });
  }
  if (stop_reason !== 'end' || isLast || messages.at(-1)?.role !== 'user') return null;
  return new RequestRefusal('network', `'${model}' sent an empty answer.`, {
    ...UNSAID,
    hint: 'Try again (/retry in hi chat).',
    retryable: true,
    said: 'an empty answer',
  });
}
