import { createHash } from 'node:crypto';
import type { StreamEvent } from '../../chat/event.js';
import { isJsonObject } from '../../chat/json.js';
import type { Usage } from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';
import { capitalised } from '../../chat/text.js';
import { HiError } from '../../errors.js';
import { atMost, GRACE } from '../../http/body.js';
import { aborted } from '../../http/failures.js';
import { fitRequest } from './fit-request.js';
import { type Provider, RequestRefusal, UNSAID } from './provider.js';
import { asFailure, type FailureContext } from './provider-failure.js';
import { withSupportedMedia } from './request-media.js';

/** Sends one request to a vendor and yields the answer as it arrives; may throw any error of the SDK. */
type SendRequest = (request: ChatRequest, signal: AbortSignal) => AsyncIterable<StreamEvent>;

/** The address and key of an adapter. */
interface AccessContext extends Omit<FailureContext, 'model'> {
  /** Null for the vendor's own address. */
  readonly apiBase: string | null;
  readonly account?: string;
}

/** Eight digits that distinguish addresses and accounts without revealing them. */
function originOf({ apiBase, apiKey, account }: AccessContext): string {
  const hash = createHash('sha256');
  return hash
    .update(JSON.stringify([apiBase, account ?? apiKey]))
    .digest('hex')
    .slice(0, 8);
}

/**
 * The provider that every adapter creates. It adds the contract's errors and checks to what the adapter sends and
 * reads.
 */
export class StreamingProvider implements Provider {
  readonly name: string;
  readonly #context: AccessContext;
  readonly #send: SendRequest;
  readonly #media: RegExp | null;
  #origin: string | null = null;

  /** `media`: the file formats that the vendor supports in addition to the usual ones. */
  constructor(context: AccessContext, send: SendRequest, media: RegExp | null = null) {
    this.name = context.member.name;
    this.#context = context;
    this.#send = send;
    this.#media = media;
  }

  get origin(): string {
    this.#origin ??= originOf(this.#context);
    return this.#origin;
  }

  stream(request: ChatRequest, signal: AbortSignal): AsyncIterable<StreamEvent> {
    const { title } = this.#context.member;
    const send = (both: AbortSignal) =>
      this.#send(fitRequest(withSupportedMedia(request, title, this.#media), this), both);
    return guarded(send, { ...this.#context, model: request.model, tokens: request.estimated_tokens }, signal);
  }
}

/**
 * An adapter's events, with every end as the contract requires: an abort error when `signal` aborted, whatever the SDK
 * throws then; a `HiError` for every other error; a `network` error for a stream that ends early. The connection never
 * outlives the iteration.
 */
async function* guarded(
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

/**
 * Checks an event at run time: a server may send any value instead of a text, a name or a number, and the event goes
 * into the history and all later requests. Drops an invalid value that is not essential; throws a `TypeError` for any
 * other.
 */
function validEvent(event: StreamEvent): StreamEvent {
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

/** The maximum number of buffered pieces. Beyond that, reading pauses. */
const MAX_PIECES = 64;

/** The maximum number of buffered characters. A fast server would fill the memory while the terminal is slow. */
const MAX_CHARACTERS = 16_384;

/**
 * A queue between a vendor's stream and the turn. Events that arrive together are returned together, with pieces of
 * text joined: each event then passes through half a dozen generators, which for a fast server takes longer than
 * reading the answer.
 */
export class CoalescedStream {
  readonly #check: (event: StreamEvent) => StreamEvent;
  #events: StreamEvent[] = [];
  #pieces = 0;
  #characters = 0;
  #end: { readonly failure: unknown } | null = null;
  /** The current capacity in pieces. It begins with 1, so that the first piece is passed on at once. */
  #room = 1;
  #isClosed = false;
  #wake = () => {};
  #goOn = () => {};

  /** `check` is called with every event, and throws for an invalid one. */
  constructor(check: (event: StreamEvent) => StreamEvent) {
    this.#check = check;
  }

  /** Reads a stream into the queue. Resolves at its end, even after an error. */
  async fill(stream: AsyncIterable<StreamEvent>): Promise<void> {
    let failure: unknown = null;
    try {
      for await (const event of stream) {
        if (this.#isClosed) return;
        this.#add(this.#check(event));
        if (this.#isFull) {
          await new Promise<void>((resolve) => {
            this.#goOn = resolve;
          });
        }
      }
    } catch (thrown) {
      failure = thrown;
    }
    this.#end = { failure };
    this.#wake();
  }

  /**
   * The next events, null at the end of the stream. Rejects with the stream's error after all events before it were
   * returned.
   */
  async take(): Promise<readonly StreamEvent[] | null> {
    if (this.#pieces === 0) this.#goOn();
    if (this.#pieces === 0 && this.#end === null) await this.#change();
    if (!this.#isFull && this.#end === null) await Promise.race([this.#change(), turn()]);
    const events = this.#events;
    // One event may have tens of megabytes, so nothing is read ahead after much text.
    const isLarge = this.#characters >= MAX_CHARACTERS;
    this.#events = [];
    this.#pieces = 0;
    this.#characters = 0;
    this.#room = MAX_PIECES;
    if (!isLarge) this.#goOn();
    if (events.length > 0) return events;
    if (this.#end?.failure) throw this.#end.failure;
    return null;
  }

  /** Stops reading the stream. */
  close(): void {
    this.#isClosed = true;
    this.#goOn();
  }

  get #isFull(): boolean {
    return this.#pieces >= this.#room || this.#characters >= MAX_CHARACTERS;
  }

  /** Resolves when the empty queue gets an event, when the queue is full, and at the end. */
  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #add(event: StreamEvent): void {
    const last = this.#events.at(-1);
    const isText = event.type === 'text' || event.type === 'thinking';
    if (isText) this.#characters += event.text.length;
    if (isText && last?.type === event.type) {
      this.#events[this.#events.length - 1] = { type: event.type, text: last.text + event.text };
    } else {
      this.#events.push(event);
    }
    this.#pieces += 1;
    if (this.#pieces === 1 || this.#isFull) this.#wake();
  }
}

/** Resolves after all events that are ready now. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
