import type { StreamEvent } from '../../chat/event.js';
import { type ModelFacts, type ModelMemory, mergeFacts, THINKING_LEVELS } from '../../chat/model.js';
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
 * The request without what the server refused, and nothing else, which is remembered. If the server does not say what it refused, everything except text is
 * first removed from earlier messages; `isSecond` is answered with the plainest form, and so is the last refusal, whatever it says. Null if there is nothing
 * left to leave out.
 */
export function adaptRequest(
  request: ChatRequest,
  refusal: RequestRefusal,
  memory: ModelMemory,
  isSecond: boolean,
  isLast = isSecond,
): Adapted | null {
  const now = Date.now();
  const lesson = lessonOf(refusal, request, now);
  if (lesson !== null && !lesson.passes) memory.learn(lesson.facts);
  if (lesson === null) return inPlainForm(request, refusal, now, isSecond);
  const next = withFacts(request, lesson.facts);
  const plain = isLast && !isPlain(next) ? inPlainForm(next, refusal, now, true) : null;
  if (plain !== null) return { ...plain, proves: null };
  const notice = lesson.notice && `${lesson.notice} (${refusal.said})`;
  return { request: next, notice, proves: null, isRepeated: true };
}

/**
 * What may be answered where a failure that may pass came again: the plainest form after a refusal, else words alone in place of what earlier messages have
 * beside them, since proxies and overloaded servers close the connection on what they cannot take. Null when there is nothing to leave out.
 */
export function adaptAfterFailure(request: ChatRequest, failure: HiError, memory: ModelMemory): Adapted | null {
  if (failure instanceof RequestRefusal) return adaptRequest(request, failure, memory, true);
  const notice = `'${request.model}' answers if earlier messages are sent as text only. (${failure.message})`;
  return inWords(request, notice);
}

/** The lesson to send earlier messages as text only, which is believed once it was confirmed twice. Null if they contain nothing else. */
export function inWords(request: ChatRequest, notice: string): Adapted | null {
  if (!holdsOldParts(request)) return null;
  const words = wordsUntil(Date.now());
  return {
    request: withFacts(request, words),
    notice,
    proves: words,
    isRepeated: Boolean(request.facts?.doubted_at),
  };
}

const wordsUntil = (now: number): ModelFacts => ({ words_until: now + 1, refused_at: { words: now } });

/** Earlier messages as text only, or the plainest form. */
function inPlainForm(
  request: ChatRequest,
  { refused, said, code }: RequestRefusal,
  now: number,
  isSecond: boolean,
): Adapted | null {
  // Too large: a compaction handles that.
  if (code === 'window') return null;
  const notice = (what: string) => `'${request.model}' refused the request: ${what}. (${said})`;
  const old = isSecond ? null : inWords(request, notice('earlier messages are sent as text only'));
  if (old !== null) return old;
  // The reason given is not about how the answer arrives.
  if (isPlainest(request) || (isPlain(request) && isSecond && refused.what !== 'unsaid')) return null;
  const isLast = isSecond || isPlain(request);
  const keepsLimit = !isLast && contains(request, 'output_limit') && !isPlain(withFacts(request, NO_LIMIT));
  const left = leftOut(keepsLimit ? withFacts(request, NO_LIMIT) : request);
  const form = [wordsUntil(now), plainForm(request, now, keepsLimit), isLast ? whole(now) : {}].reduce(mergeFacts);
  const without = isLast && left.length === 0 ? ['anything but text, and without streaming'] : left;
  return {
    request: plainest(request, form),
    notice: without.length === 0 ? null : notice(`it answers without ${without.join(', ')}`),
    proves: mergeFacts(refusedIn(request.facts), form),
    isRepeated: Boolean(request.facts?.doubted_at),
  };
}

/** The user's limit is kept as long as anything else may be the cause, because it bounds the cost of the answer. */
const NO_LIMIT: ModelFacts = { takes: { output_limit: false } };

const withFacts = (request: ChatRequest, facts: ModelFacts): ChatRequest => ({
  ...request,
  facts: mergeFacts(request.facts ?? {}, facts),
});

/** Describes what the plainest form leaves out of a request. */
function leftOut(request: ChatRequest): readonly string[] {
  return [
    ...(contains(request, 'tools') ? ['tools'] : []),
    ...(thinkingOf(request) === null ? [] : ['a level of thinking']),
    ...(contains(request, 'schema') ? ['a schema, except in words'] : []),
    ...(contains(request, 'web') ? ['a web search'] : []),
    ...(contains(request, 'system') ? ['a system message'] : []),
    ...(sentOptions(request).length > 0 ? ['the options of the configuration'] : []),
    ...(contains(request, 'output_limit') ? ['a length limit'] : []),
    ...(holdsOldParts(request) ? ['the attachments of earlier messages'] : []),
  ];
}

/** Whether only text is left in a request. Services may require a length limit although none is set. */
const isPlain = (request: ChatRequest): boolean =>
  leftOut(request).length === 0 && !contains(request, 'extras') && request.facts?.takes?.output_limit === false;

const isPlainest = (request: ChatRequest): boolean => isPlain(request) && !contains(request, 'stream');

/** Text only, except for the files of the newest message. */
function plainest(request: ChatRequest, facts: ModelFacts): ChatRequest {
  const takes = { tools: false, web: false, system: false, schema: false };
  return { ...withFacts(request, mergeFacts({ takes }, facts)), thinking: null, options: {} };
}

/** The last request of three does not stream. */
const whole = (now: number): ModelFacts => ({ takes: { stream: false }, refused_at: { stream: now } });

/** The plainest form, as remembered once it is answered: everything that was in the request, and what services add to it, is left out from then on. */
function plainForm(request: ChatRequest, now: number, keepsLimit: boolean): ModelFacts {
  const held = (['tools', 'web', 'system', 'schema', 'extras'] as const).filter((name) => contains(request, name));
  const thinks = thinkingOf(request) !== null;
  const options = sentOptions(request);
  return {
    takes: { ...Object.fromEntries(held.map((feature) => [feature, false])), ...(!keepsLimit && NO_LIMIT.takes) },
    ...(thinks && { refused_thinking: THINKING_LEVELS }),
    ...(options.length > 0 && { refused_options: options }),
    refused_at: {
      ...Object.fromEntries(held.map((feature) => [feature, now])),
      ...(!keepsLimit && { output_limit: now }),
      ...(thinks && { thinking: now }),
      ...(options.length > 0 && { options: now }),
    },
  };
}

/** What earlier attempts of the same question left out, to be remembered with the rest. Facts without a time apply only to this question. */
function refusedIn(facts: ModelFacts = {}): ModelFacts {
  const { takes = {}, refused_at = {}, refused_thinking, refused_options } = facts;
  return {
    takes: Object.fromEntries(Object.entries(takes).filter(([feature, is]) => !is && feature in refused_at)),
    refused_at,
    ...(refused_thinking && { refused_thinking }),
    ...(refused_options && { refused_options }),
  };
}

/**
 * What hi learns from an answer. After a refusal without a reason, the next request is sent as usual: only a second refusal shows that the first had to do
 * with what was sent, and was not transient.
 */
export function learntFromAnswer(adapted: Adapted | null, { doubted_at }: ModelFacts, now: number): ModelFacts | null {
  if (!adapted?.proves) return doubted_at && adapted === null ? { doubted_at: 0 } : null;
  return adapted.isRepeated ? { ...adapted.proves, doubted_at: 0 } : { doubted_at: now };
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

/** Below it a model has written nothing: some servers count the end of the answer. */
const MOST_OF_NOTHING = 1;

/**
 * The failure that an answer without anything in it stands for, null where it is one. Servers say "stop" to what they cannot take, and "length" to a prompt
 * that leaves no room for a word. After the results of tools a model may have nothing to add.
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
 * The request without the MCP tools whose definition was refused, which is remembered: the named tool or, if the message is about
 * definitions but names none, all of them. Null if it is about something else.
 */
export function withoutRefusedTools(
  request: ChatRequest,
  { said }: RequestRefusal,
  memory: ModelMemory,
): { readonly request: ChatRequest; readonly notice: string } | null {
  const sent = takenTools(request.tools, request.facts?.refused_tools);
  const refused = toolsRefusedIn(said, sent);
  if (refused.length === 0) return null;
  const facts = { refused_tools: refused.map(toolKey), refused_at: { tool_definitions: Date.now() } };
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
 * Remembers what a server refused after a part of its answer was shown, so that the question cannot be asked again: the next one goes without it. Returns
 * the notice to the user; null where nothing was learnt or it makes no difference to them.
 */
export function learnLate(request: ChatRequest, refusal: RequestRefusal, memory: ModelMemory): string | null {
  const fewer = withoutRefusedTools(request, refusal, memory);
  if (fewer !== null) return fewer.notice;
  const lesson = lessonOf(refusal, request, Date.now());
  if (lesson === null || lesson.passes) return null;
  memory.learn(lesson.facts);
  return lesson.notice;
}
