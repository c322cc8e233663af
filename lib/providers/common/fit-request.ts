import type { StreamEvent } from '../../chat/event.js';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import {
  type DocumentPart,
  type ImagePart,
  isAudio,
  isPart,
  type Part,
  type ToolCallPart,
} from '../../chat/message.js';
import { type Feature, goesInWords, goesWithoutOpaque, isRefused, nextThinking, optionName } from '../../chat/model.js';
import { type ChatRequest, isSchemaRefused, takenTools } from '../../chat/request.js';
import { resultText, shortId } from './normalise-history.js';
import { isTextOnly, noDocumentSupport, noImageSupport, unseenText } from './request-media.js';
import { withSchemaInWordsOnly } from './vendor-schema.js';

type SentMessage = ChatRequest['messages'][number];

/**
 * Adapts the request to the known facts about the model. Replaces parts that it does not support by text or removes
 * them, so that no earlier message can block later requests. Throws a `request` error for an unsupported attachment in
 * the user's newest message. Opaque parts of answers are kept only if they have the origin of `access`.
 */
export function fitRequest(given: ChatRequest, access: { readonly origin: string }): ChatRequest {
  const request = isSchemaRefused(given) ? withSchemaInWordsOnly(given) : given;
  const { facts = {}, thinking } = request;
  const refused = (feature: Feature) => isRefused(facts, feature);
  const isInWords = sentAsText(request);
  const isForeign = (message: SentMessage, at: number) =>
    goesWithoutOpaque(message, facts) ||
    isInWords[at] ||
    (message.origin !== undefined && message.origin !== access.origin);
  let messages = request.messages.map((message, at) => (isForeign(message, at) ? withoutAuthor(message) : message));
  messages = withoutAttachments({ ...request, messages }, isInWords);
  messages = messages.map((message, at) => (isInWords[at] ? inWords(message) : message));
  if (refused('parallel_calls')) messages = messages.flatMap(oneCallEach(messages));
  if (refused('tools') || refused('calls')) messages = messages.map(inWords);
  if (refused('call_ids')) messages = messages.map(withShortIds);
  const isInUser = refused('system') && request.system.length > 0;
  return {
    ...request,
    messages: isInUser ? withSystem(messages, request.system) : messages,
    system: isInUser ? [] : request.system,
    tools: refused('tools') ? [] : takenTools(request),
    thinking: thinking === null ? null : nextThinking(thinking, facts),
    max_output_tokens: refused('output_limit') ? null : outputLimit(request),
    ...(request.options && apart(takenOptions(request))),
  };
}

/** The answer limit if the prompt seems to fill the window. The estimate may be too high. */
const LEAST_ANSWER = 256;

/** The answer limit in tokens, as far as prompt and model leave room for it. */
function outputLimit({ max_output_tokens, context_window, estimated_tokens, facts }: ChatRequest): number | null {
  if (max_output_tokens === null) return null;
  const room = Math.max(LEAST_ANSWER, context_window - estimated_tokens);
  return Math.min(max_output_tokens, facts?.max_output_tokens ?? room, room);
}

/** The options of the user without those that were refused. */
function takenOptions({ options = {}, facts }: ChatRequest): JsonObject {
  return Object.fromEntries(
    Object.entries(options).filter((option) => !isRefused(facts, `option ${optionName(option)}`)),
  );
}

/**
 * The options that have a place in the vendor's request, that of its web search, and those that go into it as they are.
 */
function apart({
  extra_body,
  extra_headers,
  user_location,
  ...options
}: JsonObject): Pick<ChatRequest, 'options' | 'place' | 'extra'> {
  const place = isJsonObject(user_location) ? { place: user_location } : {};
  if (extra_body === undefined && extra_headers === undefined) return { options, ...place };
  const texts = Object.entries(isJsonObject(extra_headers) ? extra_headers : {}).map(([name, text]) => [
    name,
    String(text),
  ]);
  const extra = { body: isJsonObject(extra_body) ? extra_body : {}, headers: Object.fromEntries(texts) };
  return { options, ...place, extra };
}

/** For each message, whether it is sent as text only. A result is sent in the same form as its call. */
function sentAsText({ messages, facts = {} }: ChatRequest): readonly boolean[] {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  return messages.map((message, at) => {
    const isResult = message.role === 'tool' && at > 0;
    return at !== asked && goesInWords((isResult && messages[at - 1]) || message, facts);
  });
}

/** Opaque data of an answer is sent only to its author. */
function withoutAuthor({ provider, ...message }: SentMessage): SentMessage {
  return message;
}

/**
 * Unsupported attachments of finished turns become text. In the newest message the server decides about a single file.
 */
function withoutAttachments({ messages, model, facts }: ChatRequest, isInWords: readonly boolean[]): SentMessage[] {
  const isRefusedKind = (part: Part): boolean =>
    (part.type === 'image' && (facts?.takes?.images === false || isTextOnly(model))) ||
    (part.type === 'document' && facts?.takes?.[isAudio(part) ? 'audio' : 'documents'] === false);
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const kind = messages[asked]?.content.find(isRefusedKind)?.type;
  if (kind !== undefined) throw kind === 'image' ? noImageSupport(model) : noDocumentSupport(model);
  return messages.map((message, at) => {
    if (at === asked || !message.content.some(isAttachment)) return message;
    const content = message.content.map((part): Part => {
      const isUnseen =
        isAttachment(part) && (isInWords[at] || isRefusedKind(part) || isRefused(facts, `file ${part.sha256}`));
      return isUnseen ? { type: 'text', text: unseenText(part) } : part;
    });
    return { ...message, content };
  });
}

const isAttachment = (part: Part): part is ImagePart | DocumentPart =>
  part.type === 'image' || part.type === 'document';

/** Splits an answer with several calls into several answers, each before the result of its call. */
const oneCallEach =
  (messages: readonly SentMessage[]) =>
  (message: SentMessage, at: number): SentMessage[] => {
    const results = messages[at + 1];
    if (message.role === 'tool') return callsOf(messages[at - 1]).length > 1 ? [] : [message];
    const calls = callsOf(message);
    if (calls.length < 2 || results?.role !== 'tool') return [message];
    return calls.flatMap((call, index) => {
      const content = message.content.filter((part) => part === call || (index === 0 && part.type !== 'tool_call'));
      const isLast = index === calls.length - 1;
      const own = results.content.filter((part) =>
        part.type === 'tool_result' ? part.call_id === call.call_id : isLast,
      );
      return [
        { ...message, content },
        { ...results, content: own },
      ];
    });
  };

const callsOf = (message: SentMessage | undefined): readonly ToolCallPart[] =>
  message?.role === 'assistant' ? message.content.filter(isPart('tool_call')) : [];

/** Calls as text of the model, results as text of the user. */
function inWords(message: SentMessage): SentMessage {
  if (message.role === 'user') return message;
  const content = message.content.flatMap((part): Part[] => {
    if (part.type === 'tool_call') return [{ type: 'text', text: wordsOf(part) }];
    if (part.type === 'tool_result') return [{ type: 'text', text: `[Result of ${part.name}: ${resultText(part)}]` }];
    return [part];
  });
  if (message.role === 'tool') return { role: 'user', content };
  return { ...message, content };
}

const wordsOf = ({ name, args }: ToolCallPart): string => `\n\n[Called ${name} with ${JSON.stringify(args)}]`;

function withShortIds(message: SentMessage): SentMessage {
  const content = message.content.map((part) => {
    const isNamed = part.type === 'tool_call' || part.type === 'tool_result';
    return isNamed && !SHORT.test(part.call_id) ? { ...part, call_id: shortId(part.call_id) } : part;
  });
  return { ...message, content };
}

const SHORT = /^[a-z0-9]{9}$/i;

/** The messages with the system text at the beginning of the first user message. */
function withSystem(messages: readonly SentMessage[], system: ChatRequest['system']): SentMessage[] {
  const part: Part = { type: 'text', text: system.join('\n\n') };
  const [first, ...rest] = messages;
  if (first?.role === 'user') return [{ ...first, content: [part, ...first.content] }, ...rest];
  return [{ role: 'user', content: [part] }, ...messages];
}

/** Whether the request offers the vendor's web search. */
export function offersWeb({ web, facts }: ChatRequest): boolean {
  return (web === 'on' || web === 'auto') && facts?.takes?.web !== false;
}

/** Reports once per adapter that a requested search is not available. */
export class WebNotice {
  #isSaid = false;

  /** `reason`: whole sentences. Yields nothing unless the user asked for the search explicitly. */
  *say({ web }: ChatRequest, reason: string): Generator<StreamEvent> {
    if (web !== 'on' || this.#isSaid) return;
    this.#isSaid = true;
    yield { type: 'notice', text: reason };
  }
}

/** The notice for a vendor without a search. */
export function noSearch(title: string): string {
  return `No web search: ${title} offers none that hi can use. The answer is from the model alone.`;
}

/** Whether to request a stream. A server that refuses streaming sends the whole answer at once. */
export const wantsStream = ({ facts }: ChatRequest): boolean => facts?.takes?.stream !== false;
