import { type ModelFacts, type ModelMemory, mergeFacts, THINKING_LEVELS } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import type { HiError } from '../../errors.js';
import { RequestRefusal } from '../../providers/common/provider.js';
import { contains, holdsOldParts, sentOptions, thinkingOf } from './contents.js';
import { lessonOf } from './lessons.js';

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
