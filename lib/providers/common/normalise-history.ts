import { createHash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import type {
  DocumentPart,
  ImagePart,
  Part,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
  VendorPart,
} from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';
import { isNear } from '../../http/address.js';
import { withDrawings } from './request-media.js';

/** The parts of a user's message. */
export type UserPart = TextPart | ImagePart | DocumentPart;

/** A message that an adapter converts to its vendor's form. */
export type VendorTurn =
  | { readonly role: 'user'; readonly content: readonly UserPart[] }
  /** `own`: written by the provider and model of this request, so that its opaque data may be sent back. */
  | {
      readonly role: 'assistant';
      readonly own: boolean;
      readonly content: readonly (TextPart | ThinkingPart | ToolCallPart | VendorPart)[];
    }
  | { readonly role: 'tool'; readonly content: readonly ToolResultPart[] };

/**
 * The conversation for one provider and model. Data that only another model understands (thinking, signatures, blocks
 * of unknown type) and empty messages are left out. Lone surrogates, which no vendor accepts, are replaced. Every call
 * has an id of its own.
 */
export function normaliseHistory(
  { messages, model, attachments }: Pick<ChatRequest, 'messages' | 'model'> & Partial<Pick<ChatRequest, 'attachments'>>,
  provider: string,
): VendorTurn[] {
  return withIdsOfTheirOwn(messages)
    .flatMap((message): VendorTurn | VendorTurn[] => {
      const content = message.content.map(wellFormed);
      if (message.role === 'user') return { role: 'user', content: content.filter(isUserPart).filter(hasContent) };
      if (message.role === 'tool') return [{ role: 'tool', content: content.filter(isResult) }, filesOf(content)];
      const own = message.provider === provider && message.model === model;
      const parts = withDrawings(content, own, attachments).filter(isAnswerPart);
      return { role: 'assistant', own, content: own ? parts : parts.flatMap(withoutOpaque) };
    })
    .filter(({ content }) => content.length > 0);
}

/**
 * Calls with an id that an earlier one has get another, and so do their results: servers that number calls, and joined
 * histories, repeat ids.
 */
function withIdsOfTheirOwn(messages: ChatRequest['messages']): ChatRequest['messages'] {
  const taken = new Map<string, number>();
  const current = new Map<string, string>();
  const renamed = <Kind extends ToolCallPart | ToolResultPart>(part: Kind): Kind => {
    const call_id = current.get(part.call_id) ?? part.call_id;
    return call_id === part.call_id ? part : { ...part, call_id };
  };
  return messages.map((message) => {
    if (!message.content.some(({ type }) => type === 'tool_call' || type === 'tool_result')) return message;
    const content = message.content.map((part): Part => {
      if (part.type === 'tool_result') return renamed(part);
      if (part.type !== 'tool_call') return part;
      const times = taken.get(part.call_id) ?? 0;
      taken.set(part.call_id, times + 1);
      current.set(part.call_id, times === 0 ? part.call_id : shortId(`${part.call_id} ${times}`));
      return renamed(part);
    });
    return { ...message, content };
  });
}

/** The files that tools returned, as a message of the user: no vendor accepts every type of file in a result. */
function filesOf(content: readonly Part[]): VendorTurn {
  const files = content.filter(isUserPart);
  const label: TextPart = { type: 'text', text: '(From the tools, not from the user:)' };
  return { role: 'user', content: files.length === 0 ? [] : [label, ...files] };
}

/**
 * Ensures that the turns begin with the user's, as Anthropic and Google require: a compaction may have kept an answer
 * as the first message.
 */
export function beginningWithUser(turns: readonly VendorTurn[]): readonly VendorTurn[] {
  if (turns[0] === undefined || turns[0].role === 'user') return turns;
  return [{ role: 'user', content: [{ type: 'text', text: '(Earlier messages are not shown.)' }] }, ...turns];
}

/** A tool's result for the model: text unchanged, everything else as JSON, a failure as `{"error": …}`. */
export function resultText(part: ToolResultPart): string {
  if (part.error !== undefined) return JSON.stringify({ error: part.error });
  return typeof part.result === 'string' ? part.result : JSON.stringify(part.result);
}

/** The text with U+FFFD in place of every lone surrogate. */
export function replaceSurrogates(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\uFFFD');
}

function withoutOpaque(part: TextPart | ThinkingPart | ToolCallPart | VendorPart): (TextPart | ToolCallPart)[] {
  if (part.type === 'thinking' || part.type === 'vendor') return [];
  if (part.type === 'text' && part.text === '') return [];
  const { opaque, ...rest } = part;
  return [rest];
}

/** Opaque data stays the same, to the byte. */
function wellFormed(part: Part): Part {
  switch (part.type) {
    case 'text':
    case 'thinking':
      return { ...part, text: replaceSurrogates(part.text) };
    case 'tool_call':
      return { ...part, name: toolName(part.name), args: deepObject(part.args) };
    case 'tool_result': {
      const name = toolName(part.name);
      return part.error === undefined
        ? { ...part, name, result: deep(part.result) }
        : { ...part, name, error: replaceSurrogates(part.error) };
    }
    default:
      return part;
  }
}

/** A valid tool name. Models invent names, and an invalid one would make every later request fail. */
function toolName(name: string): string {
  const word = name.replace(/[^\w-]/g, '_').slice(0, 63);
  return /^[a-z_]/i.test(word) ? word : `_${word}`;
}

function deep(value: JsonValue): JsonValue {
  if (typeof value === 'string') return replaceSurrogates(value);
  if (Array.isArray(value)) return value.map(deep);
  return isJsonObject(value) ? deepObject(value) : value;
}

function deepObject(value: JsonObject): JsonObject {
  const entries = Object.entries(value).filter((entry): entry is [string, JsonValue] => entry[1] !== undefined);
  return Object.fromEntries(entries.map(([name, inner]) => [replaceSurrogates(name), deep(inner)]));
}

function isUserPart(part: Part): part is UserPart {
  return part.type === 'text' || part.type === 'image' || part.type === 'document';
}

function hasContent(part: UserPart): boolean {
  return part.type !== 'text' || part.text !== '';
}

function isResult(part: Part): part is ToolResultPart {
  return part.type === 'tool_result';
}

function isAnswerPart(part: Part): part is TextPart | ThinkingPart | ToolCallPart | VendorPart {
  return part.type === 'text' || part.type === 'thinking' || part.type === 'tool_call' || part.type === 'vendor';
}

/** The form of the conversation that a server expects. */
export interface TurnForm {
  /** One system message, and alternating turns that begin with the user's, as every chat template accepts. */
  readonly strict: boolean;
  /** Text next to a tool call stays there; otherwise it is moved to the beginning of the next answer. */
  readonly textBesideCalls: boolean;
}

/** The form for a vendor that accepts any order. */
export const FREE_FORM: TurnForm = { strict: false, textBesideCalls: true };

/** Models whose published chat templates silently drop the text next to a tool call. */
const DROPS_TEXT = /llama-?3|gemma|hermes|mistral-(?:nemo|small)|command-r7b|minimax-m1|phi-3|solar|llm-jp|rwkv/i;

/** The form for a server other than the vendor's own. A nearby server applies an unknown template. */
export function formFor(base: string, model: string): TurnForm {
  return { strict: true, textBesideCalls: !isNear(base) && !DROPS_TEXT.test(model) };
}

/** The system text in one or several messages. */
export function systemTexts(blocks: readonly string[], { strict }: TurnForm): readonly string[] {
  const texts = blocks.map(replaceSurrogates);
  return strict && texts.length > 1 ? [texts.join('\n\n')] : texts;
}

/**
 * Converts turns to a form. The strict one joins neighbours with the same role, and inserts an answer between a result
 * and a user message, as after an interruption. The result for a conversation is always a prefix of the result for a
 * longer one.
 */
export function formTurns(turns: readonly VendorTurn[], form: TurnForm): readonly VendorTurn[] {
  if (!form.strict) return turns;
  const formed: VendorTurn[] = [];
  let held: readonly TextPart[] = [];
  for (const turn of beginningWithUser(turns)) {
    const last = formed.at(-1);
    if (turn.role === 'user') {
      if (last?.role === 'tool') formed.push(unfinished(held));
      held = [];
      append(formed, turn);
    } else if (turn.role === 'assistant') {
      const { now, later } = form.textBesideCalls ? { now: turn, later: [] } : apart(turn, held);
      held = later;
      const isBehindWords = last?.role === 'assistant' && now.content.some(isCall);
      if (isBehindWords && !form.textBesideCalls) formed.push({ role: 'user', content: [SILENCE] });
      append(formed, now);
    } else formed.push(turn);
  }
  return formed;
}

type UserTurn = Extract<VendorTurn, { role: 'user' }>;
type AnswerTurn = Extract<VendorTurn, { role: 'assistant' }>;

/** Adds a turn, or joins it with the previous one if that has the same role. */
function append(formed: VendorTurn[], turn: UserTurn | AnswerTurn): void {
  const last = formed.at(-1);
  if (last?.role === 'user' && turn.role === 'user') {
    formed[formed.length - 1] = { role: 'user', content: [...last.content, ...turn.content] };
  } else if (last?.role === 'assistant' && turn.role === 'assistant') {
    const content = [...last.content, BREAK, ...turn.content];
    formed[formed.length - 1] = { role: 'assistant', own: last.own && turn.own, content };
  } else formed.push(turn);
}

const SILENCE: TextPart = { type: 'text', text: '(Nothing was said.)' };
const BREAK: TextPart = { type: 'text', text: '\n\n' };

/**
 * The answer without the text next to its calls, and that text. An answer without calls gets the text held back so far.
 */
function apart(turn: AnswerTurn, held: readonly TextPart[]): { now: AnswerTurn; later: readonly TextPart[] } {
  if (!turn.content.some(isCall)) {
    return { now: held.length === 0 ? turn : { ...turn, content: [...held, ...turn.content] }, later: [] };
  }
  const texts = turn.content.filter((part) => part.type === 'text').filter(({ text }) => text.trim() !== '');
  const content = turn.content.filter(({ type }) => type !== 'text');
  return { now: { ...turn, content }, later: [...held, ...texts.flatMap((text) => [text, BREAK])] };
}

const isCall = ({ type }: Part): boolean => type === 'tool_call';

function unfinished(held: readonly TextPart[]): AnswerTurn {
  const content: readonly TextPart[] = held.length > 0 ? held.slice(0, -1) : [{ type: 'text', text: '(No answer.)' }];
  return { role: 'assistant', own: false, content };
}

/** Gives every tool call of an answer an id that is unique in the conversation, the vendor's own if possible. */
export function callIds(messages: ChatRequest['messages']): (given?: string | null) => string {
  const taken = new Set<string>();
  for (const { content } of messages) {
    for (const part of content) if (part.type === 'tool_call') taken.add(part.call_id);
  }
  return (given) => {
    // Some servers count from 0 in every answer, others give no id.
    const id = given && !taken.has(given) ? given : shortId(crypto.randomUUID());
    taken.add(id);
    return id;
  };
}

/**
 * Converts an id to nine letters and digits, always in the same way: Mistral accepts no other form, and all others
 * accept this one.
 */
export function shortId(call_id: string): string {
  const hash = createHash('sha256').update(call_id).digest();
  return Array.from(hash.subarray(0, 9), (byte) => LETTERS[byte % LETTERS.length]).join('');
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
