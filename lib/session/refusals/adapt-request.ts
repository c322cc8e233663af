import type { StreamEvent } from '../../chat/event.js';
import {
  isRefused,
  type ModelFacts,
  type ModelMemory,
  mergeFacts,
  type Refusable,
  refusedNow,
  THINKING_LEVELS,
} from '../../chat/model.js';
import { type ChatRequest, SERVER_TOOL_PREFIX, type ToolSpec, takenTools, toolKey } from '../../chat/request.js';
import { HiError, isAbort } from '../../errors.js';
import { type Provider, RequestRefusal, UNSAID } from '../../providers/common/provider.js';
import { attachmentsOf, contains, holdsOldParts, lessonOf, sentOptions, thinkingOf } from './lessons.js';

/** The request to send in place of a refused one. */
export interface Adapted {
  readonly request: ChatRequest;
  /** The notice to the user; null if the change makes no difference to them. */
  readonly notice: string | null;
  /** What an answer would prove, if the wording of the refusal proves nothing. */
  readonly proves: ModelFacts | null;
  /** Whether the original request is known to be refused every time, because an earlier one was refused too. */
  readonly isRepeated: boolean;
}

/**
 * The request without what the server refused, and nothing else, which is remembered. If the server does not say what
 * it refused, it is sent once more as text alone, and so is the last refusal, whatever it says. Null if there is
 * nothing left to leave out.
 */
export function adaptRequest(
  request: ChatRequest,
  refusal: RequestRefusal,
  memory: ModelMemory,
  isLast: boolean,
): Adapted | null {
  const lesson = lessonOf(refusal, request, Date.now());
  if (lesson === null) return inPlainForm(request, refusal, memory.facts, isLast);
  memory.learn(lesson.facts);
  const next = withFacts(request, lesson.facts);
  const plain = isLast ? inPlainForm(next, refusal, memory.facts, true) : null;
  if (plain !== null) return { ...plain, proves: null };
  const notice = lesson.notice && `${lesson.notice} (${refusal.said})`;
  return { request: next, notice, proves: null, isRepeated: true };
}

/**
 * What may be answered where a failure that may pass came again: the plain form after a refusal, else words alone in
 * place of what earlier messages have beside them, since proxies and overloaded servers close the connection on what
 * they cannot take. Null when there is nothing to leave out.
 */
export function adaptAfterFailure(request: ChatRequest, failure: HiError, memory: ModelMemory): Adapted | null {
  if (failure instanceof RequestRefusal) return adaptRequest(request, failure, memory, true);
  const notice = `'${request.model}' answers if earlier messages are sent as text only. (${failure.message})`;
  return inWords(request, notice);
}

/**
 * The lesson to send earlier messages as text only, which is believed once it was confirmed twice. Null if they contain
 * nothing else.
 */
export function inWords(request: ChatRequest, notice: string): Adapted | null {
  if (!holdsOldParts(request)) return null;
  const words = refusedNow(['earlier_parts'], Date.now());
  return {
    request: withFacts(request, words),
    notice,
    proves: words,
    isRepeated: isRefused(request.facts, 'usual_form'),
  };
}

/**
 * Text alone, except for the files of the newest message. Where the server does not say what it refused, and for the
 * last time, it is not streamed either, and without the limit of the user, which bounds the cost of the answer: there
 * is no other attempt. An answer proves these two only if text alone was refused before.
 */
function inPlainForm(
  request: ChatRequest,
  { said, code, refused }: RequestRefusal,
  known: ModelFacts,
  isLast: boolean,
): Adapted | null {
  const now = Date.now();
  // Too large: a compaction handles that.
  if (code === 'window' || isPlainest(request)) return null;
  const left = leftOut(request);
  const isText = left.length === 0 && !contains(request, 'extras');
  const isUnsaid = refused.what === 'unsaid';
  // The reason given is not about how the answer arrives.
  if (isText && !isUnsaid) return null;
  // Mostly it is what earlier messages have beside their text: the rest is tried again with the next question.
  const words = refusedNow(['earlier_parts'], now);
  const isFirst = !isRefused(known, 'earlier_parts');
  const hasLimit = contains(request, 'output_limit');
  const text = ['earlier_parts', ...partsOf(request), ...(hasLimit ? [] : (['output_limit'] as const))] as const;
  const whole = refusedNow([...text, 'output_limit', 'stream'], now);
  // Known to answer text alone, which was refused now.
  const isKnown = !isFirst && !contains(request, 'extras');
  const form = isLast || isText || isKnown ? whole : refusedNow(text, now);
  const sent = isUnsaid ? whole : form;
  const takes = { tools: false, web: false, system: false, schema: false };
  const without = [
    ...left,
    ...(sent === whole && hasLimit && left.length > 0 ? ['the limit of the answer'] : []),
    ...(form === whole && left.length === 0 ? ['anything but text, and without streaming'] : []),
  ];
  return {
    request: { ...withFacts(request, mergeFacts({ takes }, sent)), thinking: null, options: {} },
    notice:
      without.length === 0
        ? null
        : `'${request.model}' refused the request: it answers without ${without.join(', ')}. (${said})`,
    proves: isFirst && holdsOldParts(request) ? words : mergeFacts(refusedIn(request.facts), form),
    isRepeated: isRefused(known, 'usual_form') || !isFirst,
  };
}

/** Whether only text is left, asked for in one piece. Services may require a length limit although none is set. */
const isPlainest = (request: ChatRequest): boolean =>
  leftOut(request).length === 0 &&
  !(['extras', 'stream'] as const).some((name) => contains(request, name)) &&
  isRefused(request.facts, 'output_limit');

/**
 * What earlier attempts of the same question left out, to be remembered with the rest. Facts without a time apply only
 * to this question.
 */
function refusedIn({ takes = {}, refused_at = {} }: ModelFacts = {}): ModelFacts {
  return {
    takes: Object.fromEntries(Object.entries(takes).filter(([name, is]) => !is && name in refused_at)),
    refused_at,
  };
}

const withFacts = (request: ChatRequest, facts: ModelFacts): ChatRequest => ({
  ...request,
  facts: mergeFacts(request.facts ?? {}, facts),
});

/** Describes what the plain form leaves out of a request. */
function leftOut(request: ChatRequest): readonly string[] {
  return [
    ...(contains(request, 'tools') ? ['tools'] : []),
    ...(thinkingOf(request) === null ? [] : ['a level of thinking']),
    ...(contains(request, 'schema') ? ['a schema, except in words'] : []),
    ...(contains(request, 'web') ? ['a web search'] : []),
    ...(contains(request, 'system') ? ['a system message'] : []),
    ...(sentOptions(request).length > 0 ? ['the options of the configuration'] : []),
    ...(holdsOldParts(request) ? ['the attachments of earlier messages'] : []),
  ];
}

/** What the plain form leaves out, as it is remembered once an answer proves it. */
function partsOf(request: ChatRequest): readonly Refusable[] {
  const levels = thinkingOf(request) === null ? [] : THINKING_LEVELS;
  return [
    ...(['tools', 'web', 'system', 'schema', 'extras'] as const).filter((name) => contains(request, name)),
    ...levels.map((level) => `thinking ${level}` as const),
    ...sentOptions(request).map((option) => `option ${option}` as const),
  ];
}

/**
 * What hi learns from an answer. After a refusal without a reason, the next request is sent as usual: only a second
 * refusal shows that the first had to do with what was sent, and was not transient.
 */
export function learntFromAnswer(adapted: Adapted | null, known: ModelFacts, now: number): ModelFacts | null {
  const usual: ModelFacts = { takes: { usual_form: true } };
  if (!adapted?.proves) return adapted === null && isRefused(known, 'usual_form') ? usual : null;
  return adapted.isRepeated ? mergeFacts(adapted.proves, usual) : refusedNow(['usual_form'], now);
}

/** Says that there is nothing at the address, whatever is sent there. */
const NOT_THERE = /\bnot found\b|HTTP 404/i;

/** No window is smaller: a request of fewer tokens is not refused for its length. */
const LEAST_WINDOW = 2048;

/** The request without what was said before the newest message of the user; null where that is all there is. */
function newestOnly(request: ChatRequest): ChatRequest | null {
  const asked = request.messages.findLastIndex(({ role }) => role === 'user');
  return asked <= 0 ? null : { ...request, messages: request.messages.slice(asked) };
}

/**
 * The request without earlier messages of the user that have no answer: a question that was declined without a word
 * stands alone. Null if there are none.
 */
function withoutUnanswered(request: ChatRequest): ChatRequest | null {
  const { messages } = request;
  const kept = messages.filter(({ role }, at) => role !== 'user' || messages[at + 1]?.role !== 'user');
  return kept.length === messages.length ? null : { ...request, messages: kept };
}

/**
 * What is asked if a filter refused the content, which may be that of earlier messages: first without the questions
 * that it declined, else without earlier attachments, then without earlier messages. What else was left out is said
 * each time. Null if only the newest message is left.
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
 * The error of a request that was refused in every form, without a reason. Where the newest message alone is answered,
 * it was too long, in words that are not known, or has something in it that a summary has not. That is asked without
 * waiting for the answer.
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

/** Below it a model has written nothing: some servers count the end of the answer. */
const MOST_OF_NOTHING = 1;

/**
 * The failure that an answer without anything in it stands for, null where it is one. Servers say "stop" to what they
 * cannot take, and "length" to a prompt that leaves no room for a word. After the results of tools a model may have
 * nothing to add.
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

/** Matches refusals of a tool's definition rather than of a call. */
const OF_DEFINITIONS = /schema|parameters|propert|function_?declaration|unmarshal|\btools?[.[]\d|description/i;
const OF_CALLS = /tool_calls?\b|tool_use|messages?[.[]\d|contents[.[]\d|input[.[]\d/i;

/** How Google, and OpenAI and Anthropic, refer to a tool by its index. */
const PLACES = [/function_?declarations[[.](\d{1,4})/gi, /\btools[[.](\d{1,4})/gi] as const;

/**
 * The request without the MCP tools whose definition was refused, which is remembered: the named tool or, if the
 * message is about definitions but names none, all of them. Null if it is about something else.
 */
export function withoutRefusedTools(
  request: ChatRequest,
  { said }: RequestRefusal,
  memory: ModelMemory,
): { readonly request: ChatRequest; readonly notice: string } | null {
  const sent = takenTools(request);
  const refused = toolsRefusedIn(said, sent);
  if (refused.length === 0) return null;
  const facts = refusedNow(
    refused.map((tool) => `tool ${toolKey(tool)}` as const),
    Date.now(),
  );
  memory.learn(facts);
  const names = refused.map(({ name }) => name).join(', ');
  const [what, they] = refused.length === 1 ? ['the tool', 'it is'] : ['one of the tools', 'they are'];
  return {
    request: { ...request, facts: mergeFacts(request.facts ?? {}, facts) },
    notice: `'${request.model}' refused ${what} ${names}: ${they} left out. (${said})`,
  };
}

function toolsRefusedIn(said: string, sent: readonly ToolSpec[]): readonly ToolSpec[] {
  // Built-in tools are accepted everywhere.
  const ofServers = sent.filter(({ name }) => name.startsWith(SERVER_TOOL_PREFIX));
  if (ofServers.length === 0 || !OF_DEFINITIONS.test(said) || OF_CALLS.test(said)) return [];
  const words = new Set(said.match(/[\w-]+/g));
  const named = ofServers.filter(({ name }) => words.has(name));
  if (named.length > 0) return named;
  for (const pattern of PLACES) {
    const places = [...said.matchAll(pattern)].map(([, place]) => Number(place));
    if (places.length > 0)
      return [...new Set(places)].flatMap((place) => sent[place] ?? []).filter((tool) => ofServers.includes(tool));
  }
  return /schema|unmarshal|function_?declaration/i.test(said) ? ofServers : [];
}

/**
 * Remembers what a server refused after a part of its answer was shown, so that the question cannot be asked again: the
 * next one goes without it. Returns the notice to the user; null where nothing was learnt or it makes no difference to
 * them.
 */
export function learnLate(request: ChatRequest, refusal: RequestRefusal, memory: ModelMemory): string | null {
  const fewer = withoutRefusedTools(request, refusal, memory);
  if (fewer !== null) return fewer.notice;
  const lesson = lessonOf(refusal, request, Date.now());
  if (lesson === null) return null;
  memory.learn(lesson.facts);
  return lesson.notice;
}
