import type { StreamEvent } from '../chat/event.js';
import { HiError } from '../errors.js';
import { asFailure, type FailureContext } from './failure.js';
import { Gathered } from './gathered.js';
import { aborted } from './network-failure.js';

/** How long a server may take to close its stream after the last event, in milliseconds. One that does leaves its connection for the next request. */
const GRACE = 100;

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
  const gathered = new Gathered();
  try {
    if (signal.aborted) throw aborted();
    const reading = gathered.fill(start(AbortSignal.any([signal, over.signal])));
    for (let events = await gathered.take(); events !== null; events = await gathered.take()) {
      for (const event of events) {
        if (signal.aborted) throw aborted();
        yield event;
        if (event.type === 'end') return await atMost(GRACE, reading);
      }
    }
    if (signal.aborted) throw aborted();
    throw cutOff(context.member.title);
  } catch (thrown) {
    throw signal.aborted ? aborted() : asFailure(thrown, context);
  } finally {
    over.abort();
    gathered.close();
  }
}

/** Waits for what comes after the last event; whatever it is, the answer is complete. */
async function atMost(milliseconds: number, closing: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([closing, late]).catch(() => undefined);
  clearTimeout(timer);
}

/** What reading an event threw: one that has not the form it should have is the server's fault, not a bug in hi. */
export function misshapen(thrown: unknown, title: string): unknown {
  if (!(thrown instanceof TypeError)) return thrown;
  return new HiError('malformed', `${title} sent an event of a form that cannot be read.`, {
    hint: 'Ask again (/retry in hi chat). If it happens every time, check api_base.',
    retryable: true,
    cause: thrown,
  });
}

function cutOff(title: string): HiError {
  return new HiError('network', `The answer of ${title} was cut off: it ended without saying so.`, {
    hint: 'What came so far is kept. Ask again with /retry in hi chat.',
    retryable: true,
  });
}
