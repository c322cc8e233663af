import type { StreamEvent } from '../../../chat/event.js';
import { capitalised } from '../../../chat/text.js';
import { HiError } from '../../../errors.js';
import { atMost, GRACE } from '../../../http/body.js';
import { aborted } from '../../../http/failures.js';
import type { FailureContext } from '../failure/failure-text.js';
import { asFailure } from '../failure/provider-failure.js';
import { RequestRefusal, UNSAID } from '../provider.js';
import { CoalescedStream } from './coalesced-stream.js';
import { validEvent } from './validate-event.js';

/**
 * An adapter's events, with every end as the contract requires: an abort error when `signal` aborted, whatever the SDK
 * throws then; a `HiError` for every other error; a `network` error for a stream that ends early. The connection never outlives the iteration.
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
        // The answer is complete, whatever follows the last event.
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

/** The result of `ask`. Throws an abort error when `signal` aborted, else a `HiError` for the failure. */
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

/** The code that reads vendors' errors is loaded only when there is one. */
async function failure(thrown: unknown, context: FailureContext): Promise<Error> {
  return asFailure(thrown, context);
}

function readable(event: StreamEvent, title: string): StreamEvent {
  try {
    return validEvent(event);
  } catch (thrown) {
    throw asMalformed(thrown, title);
  }
}

/** Converts an error thrown while reading an answer: a malformed answer is the server's fault, not a bug in hi. */
export function asMalformed(thrown: unknown, title: string): unknown {
  // A deeply nested value instead of a string overflows the stack.
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

/** Some servers send an empty answer to a request that they do not support. */
function empty(title: string): HiError {
  return new RequestRefusal('network', capitalised(`${title} sent an empty answer.`), {
    hint: 'Try again (/retry in hi chat). If it happens every time, check api_base.',
    ...UNSAID,
    retryable: true,
    said: 'an empty answer',
  });
}
