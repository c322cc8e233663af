import type { StreamEvent } from '../../chat/event.js';
import { isJsonObject, isTooDeep, type JsonValue, parseObject, TOO_DEEP } from '../../chat/json.js';
import type { AnswerPart, Opaque, ToolCallPart } from '../../chat/message.js';
import { Pieces } from '../../chat/text.js';
import { HiError } from '../../errors.js';
import { StreamError } from '../../http/failures.js';

/**
 * Turns the pieces of a stream into events, with one `part` for every block, in the order of the answer.
 * From the first tool call on, parts are held back until `finish`, so that no call of an incomplete answer is run.
 */
export class StreamedAnswer {
  #open: { type: 'text' | 'thinking'; pieces: Pieces; opaque?: Opaque } | null = null;
  readonly #held: AnswerPart[] = [];
  #calls = 0;

  /** How many tool calls the answer has so far. */
  get calls(): number {
    return this.#calls;
  }

  /** Adds a piece of text or thinking. Closes an open block of another type first. */
  *piece(type: 'text' | 'thinking', text: string): Generator<StreamEvent> {
    if (text === '') return;
    yield* this.#begin(type);
    this.#open?.pieces.add(text);
    yield { type, text };
  }

  /**
   * Adds data that must be sent back with the open block. Begins a block of that type if none is open, since a
   * signature can come without text.
   */
  *seal(type: 'text' | 'thinking', opaque: Opaque): Generator<StreamEvent> {
    yield* this.#begin(type);
    if (this.#open) this.#open.opaque = { ...this.#open.opaque, ...opaque };
  }

  /** Adds a complete part. */
  *add(whole: AnswerPart): Generator<StreamEvent> {
    yield* this.close();
    const part = withoutDeepOpaque(whole);
    if (part === null) return;
    if (part.type === 'tool_call') this.#calls += 1;
    if (this.#calls > 0) this.#held.push(part);
    else yield { type: 'part', part };
  }

  /** Ends the open block. An empty block without data to send back yields no part. */
  *close(): Generator<StreamEvent> {
    const block = this.#open;
    this.#open = null;
    if (block === null) return;
    const { type, opaque } = block;
    const text = block.pieces.take();
    if (text === '' && opaque === undefined) return;
    yield* this.add({ type, text, ...(opaque === undefined ? {} : { opaque }) });
  }

  /**
   * Yields the parts that were held back, after the stream has ended normally. `cut` says whether the length limit
   * ended it, and how calls arrive. A last call that arrives as `text` is complete if it parses as a non-empty object;
   * one that arrives as an `object` counts as incomplete.
   */
  *finish(cut: 'none' | 'text' | 'object' = 'none'): Generator<StreamEvent> {
    yield* this.close();
    for (const [at, part] of this.#held.entries()) {
      const isLast = cut !== 'none' && at === this.#held.length - 1;
      yield { type: 'part', part: isLast && part.type === 'tool_call' ? cutCall(part, cut) : part };
    }
    this.#held.length = 0;
  }

  *#begin(type: 'text' | 'thinking'): Generator<StreamEvent> {
    if (this.#open?.type === type) return;
    yield* this.close();
    this.#open = { type, pieces: new Pieces() };
  }
}

/**
 * A tool call from its arguments as text. Text that is not a JSON object, or is nested too deeply, becomes
 * `invalid_args`. Empty text means no arguments.
 */
export function toolCall(call_id: string, name: string, text: string, opaque?: Opaque): ToolCallPart {
  const rest = opaque === undefined ? {} : { opaque };
  if (text.trim() === '') return { type: 'tool_call', call_id, name, args: {}, ...rest };
  const args = parseObject(text) ?? parseObject(quoted(text));
  if (args === null) return { type: 'tool_call', call_id, name, args: {}, invalid_args: text, ...rest };
  if (isTooDeep(args)) return { type: 'tool_call', call_id, name, args: {}, invalid_args: TOO_DEEP, ...rest };
  return { type: 'tool_call', call_id, name, args, ...rest };
}

/** The contents of a JSON string, because some servers encode the arguments twice; any other text unchanged. */
function quoted(text: string): string {
  try {
    const value: unknown = text.trimStart().startsWith('"') ? JSON.parse(text) : text;
    return typeof value === 'string' ? value : text;
  } catch {
    return text;
  }
}

/** In characters: about two million tokens, more than any model writes. */
const MOST_ARGUMENTS = 8 * 1024 * 1024;

/** Appends a piece to the arguments of a call. Throws if they become so long that they would fill the memory. */
export function longerArguments(args: string, piece: string): string {
  if (args.length + piece.length <= MOST_ARGUMENTS) return args + piece;
  const millions = MOST_ARGUMENTS / 1024 / 1024;
  throw new HiError('malformed', `The arguments of a call are longer than ${millions} million characters.`, {
    hint: 'The call was not run. Check api_base: the server may be faulty.',
  });
}

/** The part without opaque data that is nested too deeply to be stored; null if nothing else is left. */
function withoutDeepOpaque(part: AnswerPart): AnswerPart | null {
  if (part.opaque === undefined || !isTooDeep(part.opaque)) return part;
  if (part.type === 'vendor') return null;
  const { opaque, ...rest } = part;
  return rest;
}

/**
 * The last call of an answer that the length limit ended. Unless it is complete, its arguments count as invalid, so
 * that it is never run.
 */
function cutCall(call: ToolCallPart, form: 'text' | 'object'): ToolCallPart {
  const isWhole = form === 'text' && Object.keys(call.args).length > 0;
  if (isWhole || call.invalid_args !== undefined) return call;
  return { ...call, args: {}, invalid_args: JSON.stringify(call.args) };
}

const OPEN = '<think>';
const CLOSE = '</think>';

/**
 * Separates thinking at the beginning of a text, between the tags of DeepSeek R1, Qwen 3 and similar models: a server
 * that does not know the tags passes them on as text. In the middle of a text they are plain text.
 */
export class ThinkTags {
  #place: 'start' | 'thinking' | 'behind' | 'text' = 'start';
  /** Held back because it may be part of a tag, or whitespace before one. */
  #held = '';

  /** Reads one piece of the text. */
  *read(piece: string, answer: StreamedAnswer): Generator<StreamEvent> {
    if (this.#place === 'text') return yield* answer.piece('text', piece);
    this.#held += piece;
    if (this.#place === 'start') yield* this.#begin(answer);
    if (this.#place === 'thinking') yield* this.#think(answer);
    if (this.#place === 'behind') yield* this.#goOn(answer);
  }

  /** Yields the rest at the end of the text. */
  *end(answer: StreamedAnswer): Generator<StreamEvent> {
    const type = this.#place === 'thinking' ? 'thinking' : 'text';
    if (this.#place !== 'behind') yield* answer.piece(type, this.#held);
    this.#held = '';
  }

  *#begin(answer: StreamedAnswer): Generator<StreamEvent> {
    const text = this.#held.trimStart();
    if (text.startsWith(OPEN)) {
      this.#place = 'thinking';
      this.#held = text.slice(OPEN.length).trimStart();
    } else if (!OPEN.startsWith(text)) yield* this.#goOnWith(this.#held, answer);
  }

  *#think(answer: StreamedAnswer): Generator<StreamEvent> {
    const close = this.#held.indexOf(CLOSE);
    const end = close === -1 ? this.#held.length - partOfClose(this.#held) : close;
    const thought = close === -1 ? this.#held.slice(0, end) : this.#held.slice(0, end).trimEnd();
    yield* answer.piece('thinking', thought);
    if (thought !== '') yield* answer.seal('thinking', { field: 'content' });
    this.#held = this.#held.slice(close === -1 ? end : end + CLOSE.length);
    if (close !== -1) this.#place = 'behind';
  }

  /** Continues as plain text. The answer begins with its first visible character. */
  *#goOn(answer: StreamedAnswer): Generator<StreamEvent> {
    const text = this.#held.trimStart();
    if (text !== '') yield* this.#goOnWith(text, answer);
  }

  *#goOnWith(text: string, answer: StreamedAnswer): Generator<StreamEvent> {
    this.#place = 'text';
    this.#held = '';
    yield* answer.piece('text', text);
  }
}

/** The number of characters at the end of a text that may begin the closing tag. */
function partOfClose(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length -= 1) {
    if (CLOSE.startsWith(text.slice(-length))) return length;
  }
  return 0;
}

/** Joins pieces of OpenRouter's `reasoning_details`: those with the same index and type become one entry. */
export function mergeDetails(known: readonly JsonValue[], pieces: readonly JsonValue[]): JsonValue[] {
  const merged = [...known];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (isJsonObject(last) && isJsonObject(piece) && last.index === piece.index && last.type === piece.type) {
      const given = Object.fromEntries(Object.entries(piece).filter(([, value]) => value !== null));
      merged[merged.length - 1] = {
        ...last,
        ...given,
        ...joined('text', last, piece),
        ...joined('summary', last, piece),
      };
    } else {
      merged.push(piece);
    }
  }
  return merged;
}

function joined(field: string, last: { readonly [key: string]: unknown }, piece: { readonly [key: string]: unknown }) {
  const [before, after] = [last[field], piece[field]];
  return typeof before === 'string' && typeof after === 'string' ? { [field]: before + after } : {};
}

/**
 * Finish reasons for an answer that was cut off: those of DeepSeek, Zhipu, SGLang and vLLM, and Google's, which
 * gateways pass on.
 */
const BROKEN =
  /^(?:errors?|abort(?:ed)?|cancel+ed|interrupted|failed|insufficient_system_resource|(?:network|server|internal|engine|api)_error|time_?out|timed_out|malformed_(?:function|tool)_call|unexpected_tool_call)$/i;

/** Finish reasons for the length limit: OpenAI's, Mistral's, and those that gateways pass on from other vendors. */
const LENGTH =
  /^(?:model_)?length$|^max_(?:output_|completion_)?(?:tokens|length)$|context_(?:window|length)|^truncated$/i;

/** Finish reasons for refused content: those of OpenAI, Zhipu, Bedrock and Google. */
const REFUSED = /content_?filter|sensitive|safety|prohibited|blocklist|moderation|guardrail|recitation|^refus|^spii$/i;

/** Whether a finish reason means that the answer is incomplete. */
export const isBrokenOff = (word: string): boolean => BROKEN.test(word);

/** The stop reason for a finish reason in any vendor's words. Throws an error for an answer that was cut off. */
export function readFinishWord(word: string): 'end' | 'length' | 'refusal' {
  if (isBrokenOff(word)) {
    const message = /^errors?$/i.test(word)
      ? 'The model stopped with an error.'
      : `The model stopped before the end of its answer (${word}).`;
    throw new StreamError({ message });
  }
  if (LENGTH.test(word)) return 'length';
  return REFUSED.test(word) ? 'refusal' : 'end';
}
