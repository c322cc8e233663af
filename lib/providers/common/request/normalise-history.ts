import { isJsonObject, type JsonObject, type JsonValue } from '../../../chat/json.js';
import type {
  DocumentPart,
  ImagePart,
  Part,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
  VendorPart,
} from '../../../chat/message.js';
import type { ChatRequest } from '../../../chat/request.js';
import { withDrawings } from '../media/drawn-image.js';

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
 * The conversation for one provider and model. Data that only another model understands (thinking, signatures, blocks of unknown type) and
 * empty messages are left out. Lone surrogates, which no vendor accepts, are replaced.
 */
export function normaliseHistory(
  { messages, model, attachments }: Pick<ChatRequest, 'messages' | 'model'> & Partial<Pick<ChatRequest, 'attachments'>>,
  provider: string,
): VendorTurn[] {
  return messages
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

/** The files that tools returned, as a message of the user: no vendor accepts every type of file in a result. */
function filesOf(content: readonly Part[]): VendorTurn {
  const files = content.filter(isUserPart);
  const label: TextPart = { type: 'text', text: '(From the tools, not from the user:)' };
  return { role: 'user', content: files.length === 0 ? [] : [label, ...files] };
}

/** Ensures that the turns begin with the user's, as Anthropic and Google require: a compaction may have kept an answer as the first message. */
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
