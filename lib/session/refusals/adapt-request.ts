import { doubtfulAt, type ModelFacts, type ModelMemory, mergeFacts } from '../../chat/model/model-facts.js';
import { THINKING_LEVELS } from '../../chat/model/thinking-level.js';
import type { ChatRequest } from '../../chat/request.js';
import type { RequestRefusal } from '../../providers/common/provider.js';
import { contains, holdsOldParts, sentOptions, thinkingOf } from './contents.js';
import { lessonOf } from './lessons.js';

/** What is asked in place of a refused request. */
export interface Adapted {
  readonly request: ChatRequest;
  /** The notice to the user; null where the change makes no difference to them. */
  readonly notice: string | null;
  /** What an answer would prove, where the words of the refusal prove nothing. */
  readonly proves: ModelFacts | null;
  /** Whether the request as it was is known to be refused each time: it was sent several times, or an earlier one was refused too. */
  readonly isRepeated: boolean;
}

/**
 * The request without what the server refused, which is remembered. Where it does not say what that is, first without all that earlier messages have beside
 * words, then in the plainest form there is, which also answers a second refusal. Null when there is nothing left to leave out.
 */
export function adaptRequest(
  request: ChatRequest,
  refusal: RequestRefusal,
  memory: ModelMemory,
  isSecond: boolean,
): Adapted | null {
  const now = Date.now();
  const lesson = lessonOf(refusal, request, now);
  if (lesson !== null && !lesson.passes) memory.learn(lesson.facts);
  const next = lesson === null ? request : withFacts(request, lesson.facts);
  if (lesson === null || (isSecond && leftOut(next).length > 0))
    return inPlainForm(request, next, refusal, { now, isSecond, isLearnt: lesson !== null });
  const notice = lesson.notice && `${lesson.notice} (${refusal.said})`;
  return { request: isSecond ? withFacts(next, LAST_RESORT) : next, notice, proves: null, isRepeated: true };
}

/** `next` in words alone where only earlier messages had more, or in the plainest form. */
function inPlainForm(
  request: ChatRequest,
  next: ChatRequest,
  { refused, said, code, retryable }: RequestRefusal,
  { now, isSecond, isLearnt }: { readonly now: number; readonly isSecond: boolean; readonly isLearnt: boolean },
): Adapted | null {
  // Too large: that is for a compaction.
  if (code === 'window' && !isLearnt) return null;
  const at = refused.what === 'unsaid' && !refused.isCertain ? doubtfulAt(now) : now;
  const facts = { words_until: now + 1, refused_at: { words: at } };
  const isDoubted = Boolean(request.facts?.doubted_at);
  const isRepeated = isDoubted || retryable;
  const notice = (words: string) => (isDoubted ? null : `'${request.model}' refused the request: ${words}. (${said})`);
  if (!isSecond && holdsOldParts(request)) {
    return {
      request: withFacts(next, facts),
      notice: notice('earlier messages are sent as text only'),
      proves: facts,
      isRepeated,
    };
  }
  const left = leftOut(request);
  if (left.length === 0) return null;
  const proves = isLearnt ? null : mergeFacts(facts, provenBy(request, at));
  const words = notice(`it answers without ${left.join(', ')}`);
  const plain = plainest(next, facts);
  return { request: isSecond ? withFacts(plain, LAST_RESORT) : plain, notice: words, proves, isRepeated };
}

const withFacts = (request: ChatRequest, facts: ModelFacts): ChatRequest => ({
  ...request,
  facts: mergeFacts(request.facts ?? {}, facts),
});

/** What the plainest form leaves out of a request, in words. */
function leftOut(request: ChatRequest): readonly string[] {
  const isSent = {
    tools: contains(request, 'tools'),
    thinking: thinkingOf(request) !== null,
    system: contains(request, 'system'),
    options: sentOptions(request).length > 0,
  };
  return [
    ...(isSent.tools ? ['tools'] : []),
    ...(isSent.thinking ? ['a level of thinking'] : []),
    ...(contains(request, 'schema') ? ['a schema but in words'] : []),
    ...(contains(request, 'web') ? ['a web search'] : []),
    ...(isSent.system ? ['a system message'] : []),
    ...(isSent.options ? ['the options of the configuration'] : []),
    ...(holdsOldParts(request) ? ['the attachments of earlier messages'] : []),
  ];
}

/** Words alone, but for the files of the newest message. */
function plainest(request: ChatRequest, facts: ModelFacts): ChatRequest {
  const takes = { tools: false, web: false, system: false, schema: false, extras: false };
  return { ...withFacts(request, { ...facts, takes }), thinking: null, options: {} };
}

/** The last request of three: a whole answer of a length that every model writes. */
const LAST_RESORT: ModelFacts = {
  takes: { stream: false, output_limit: false, extras: false },
  max_output_tokens: 4096,
};

/** What is known when the plainest form was answered: the server takes none of the rest. */
function provenBy(request: ChatRequest, at: number): ModelFacts {
  const held = (['tools', 'web', 'system'] as const).filter((feature) => contains(request, feature));
  const thinks = thinkingOf(request) !== null;
  const options = sentOptions(request);
  return {
    takes: Object.fromEntries(held.map((feature) => [feature, false])),
    ...(thinks && { refused_thinking: THINKING_LEVELS }),
    ...(options.length > 0 && { refused_options: options }),
    refused_at: {
      ...Object.fromEntries(held.map((feature) => [feature, at])),
      ...(thinks && { thinking: at }),
      ...(options.length > 0 && { options: at }),
    },
  };
}

/**
 * What an answer teaches. After a refusal without a reason the next request goes as usual once more: only a second refusal shows that the first had to do
 * with what was sent, and not with that one moment.
 */
export function learntFromAnswer(adapted: Adapted | null, { doubted_at }: ModelFacts, now: number): ModelFacts | null {
  if (!adapted?.proves) return doubted_at && adapted === null ? { doubted_at: 0 } : null;
  return adapted.isRepeated ? { ...adapted.proves, doubted_at: 0 } : { doubted_at: now };
}
