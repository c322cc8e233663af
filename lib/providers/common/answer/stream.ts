import type { StreamEvent } from '../../../chat/event.js';
import { capitalised } from '../../../chat/text/quantity.js';
import { HiError } from '../../../errors.js';
import { aborted } from '../../../http/network-error.js';
import { atMost, GRACE } from '../../../http/time-limit.js';
import type { FailureContext } from '../failure/failure-text.js';
import { RequestRefusal, UNSAID } from '../provider.js';
import { CoalescedStream } from './coalesced-stream.js';
import { validEvent } from './validate-event.js';

/**
 * An adapter's events with every end a stream can have made one of the contract's: an abort error when `signal` aborted, whatever the SDK
 * makes of that; a `HiError` for everything thrown; a `network` error for a stream that just ends. The connection never outlives the iteration.
 */
export async function* guarded(
  start: (signal: AbortSignal) => AsyncIterable<StreamEvent>,
  context: FailureContext,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const over = new AbortController();
  const coalesced = new CoalescedStream((event) => readable(event, context.member.title));
  let began = false;
  try {
    if (signal.aborted) throw aborted();
    const reading = coalesced.fill(start(AbortSignal.any([signal, over.signal])));
    for (let events = await coalesced.take(); events !== null; events = await coalesced.take()) {
      for (const event of events) {
        if (signal.aborted) throw aborted();
        began = true;
        yield event;
        // Whatever comes after the last event, the answer is complete.
        if (event.type === 'end') return await atMost(GRACE, reading);
      }
    }
    if (signal.aborted) throw aborted();
    throw began ? cutOff(context.member.title) : empty(context.member.title);
  } catch (thrown) {
    if (signal.aborted) throw aborted();
    throw await failure(thrown instanceof RangeError ? asMalformed(thrown, context.member.title) : thrown, context);
  } finally {
    over.abort();
    coalesced.close();
  }
}

/** What `ask` resolves to. Throws an abort error when `signal` aborted, else a `HiError` of the failure's kind. */
export async function askVendor<Value>(
  ask: () => Promise<Value>,
  context: FailureContext,
  signal: AbortSignal,
): Promise<Value> {
  try {
    return await ask();
  } catch (thrown) {
    if (signal.aborted) throw aborted();
    throw await failure(asMalformed(thrown, context.member.title), context);
  }
}

/** What reads the errors of vendors is loaded for one. */
async function failure(thrown: unknown, context: FailureContext): Promise<Error> {
  const { asFailure } = await import('../failure/provider-failure.js');
  return asFailure(thrown, context);
}

function readable(event: StreamEvent, title: string): StreamEvent {
  try {
    return validEvent(event);
  } catch (thrown) {
    throw asMalformed(thrown, title);
  }
}

/** An error thrown while an answer is read: a wrong form is the server's fault, not a bug in hi. */
export function asMalformed(thrown: unknown, title: string): unknown {
  // A deeply nested value in place of a text overflows the stack.
  if (!(thrown instanceof TypeError || thrown instanceof RangeError)) return thrown;
  return new RequestRefusal('malformed', capitalised(`${title} sent a malformed answer.`), {
    ...UNSAID,
    hint: 'Try again (/retry in hi chat). If it happens every time, check api_base.',
    retryable: true,
    cause: thrown,
    said: 'a malformed answer',
  });
}

function cutOff(title: string): HiError {
  return new HiError('network', `The answer from ${title} was cut off: the stream ended early.`, {
    hint: 'The part received is kept. Try again (/retry in hi chat).',
    retryable: true,
  });
}

/** Some servers send nothing for what they cannot take. */
function empty(title: string): HiError {
  return new RequestRefusal('network', capitalised(`${title} sent an empty answer.`), {
    hint: 'Try again (/retry in hi chat). If it happens every time, check api_base.',
    ...UNSAID,
    retryable: true,
    said: 'an empty answer',
  });
}
