import type { ChatRequest } from '../../chat/request.js';
import { HiError, isAbort } from '../../errors.js';
import { type Provider, RequestRefusal } from '../../providers/common/provider.js';
import { type Adapted, inWords } from './adapt-request.js';
import { attachmentsOf } from './contents.js';

/** Says that there is nothing at the address, whatever is sent there. */
const NOT_THERE = /\bnot found\b|HTTP 404/i;

/** No window is smaller: a request of fewer tokens is not refused for its length. */
export const LEAST_WINDOW = 2048;

/** The request without what was said before the newest message of the user; null where that is all there is. */
function newestOnly(request: ChatRequest): ChatRequest | null {
  const asked = request.messages.findLastIndex(({ role }) => role === 'user');
  return asked <= 0 ? null : { ...request, messages: request.messages.slice(asked) };
}

/** The request without earlier messages of the user that have no answer: a question that was declined without a word stands alone. Null if there are none. */
function withoutUnanswered(request: ChatRequest): ChatRequest | null {
  const { messages } = request;
  const kept = messages.filter(({ role }, at) => role !== 'user' || messages[at + 1]?.role !== 'user');
  return kept.length === messages.length ? null : { ...request, messages: kept };
}

/**
 * What is asked if a filter refused the content, which may be that of earlier messages: first without the questions that it declined, else without earlier
 * attachments, then without earlier messages. What else was left out is said each time. Null if only the newest message is left.
 */
export function withoutRefusedContent(request: ChatRequest, said: string, isSecond = false): Adapted | null {
  const rest = isSecond ? null : withoutUnanswered(request);
  if (rest !== null) {
    const notice = `'${request.model}' refused the content: earlier messages without an answer are left out. (${said})`;
    return { request: rest, notice, proves: {}, isRepeated: true };
  }
  if (!isSecond && attachmentsOf(request).earlier.length > 0) {
    const words = inWords(
      request,
      `'${request.model}' refused the content of an earlier image or file: earlier messages are sent as text only. (${said})`,
    );
    if (words !== null) return words;
  }
  const newest = newestOnly(request);
  if (newest === null) return null;
  const notice = `'${request.model}' refused the content of an earlier message: it answers this one without those before. /undo takes back the turn before. (${said})`;
  return { request: newest, notice, proves: {}, isRepeated: true };
}

/**
 * The error of a request that was refused in every form, without a reason. Where the newest message alone is answered, it was too long, in words that are not
 * known, or has something in it that a summary has not. That is asked without waiting for the answer.
 */
export async function causeOf(
  provider: Provider,
  request: ChatRequest,
  refusal: HiError,
  signal: AbortSignal,
): Promise<HiError> {
  const isUnsaid = refusal instanceof RequestRefusal && refusal.refused.what === 'unsaid' && refusal.refused.isCertain;
  const newest = newestOnly(request);
  if (!isUnsaid || newest === null || request.estimated_tokens < LEAST_WINDOW || NOT_THERE.test(refusal.said))
    return refusal;
  try {
    for await (const _ of provider.stream(newest, signal))
      return new HiError('window', refusal.message, {
        hint: 'The newest message alone is accepted. Shorten the conversation with /compact, or take back a turn with /undo.',
        cause: refusal,
      });
  } catch (thrown) {
    if (isAbort(thrown) || !(thrown instanceof HiError)) throw thrown;
  }
  return refusal;
}
