import type { Part } from '../chat/message.js';
import { type Feature, type ModelFacts, type ModelMemory, mergeFacts } from '../chat/model-facts.js';
import type { ChatRequest } from '../chat/request.js';
import { nextThinking, THINKING_LEVELS } from '../chat/thinking-level.js';
import type { Refused, RequestRefusal } from '../providers/common/provider.js';

/** What is asked in place of a refused request, and what the user is told; null where the change makes no difference to them. */
export interface Adapted {
  readonly request: ChatRequest;
  readonly notice: string | null;
}

/** What a refusal teaches. */
interface Lesson {
  readonly facts: ModelFacts;
  readonly notice: string | null;
}

/**
 * The request without what the server refused, which is remembered. After a second refusal, or one that does not say what is wrong, the request in the plainest
 * form there is. Null when there is nothing left to leave out.
 */
export function adaptRequest(
  request: ChatRequest,
  { refused, said }: RequestRefusal,
  memory: ModelMemory,
  isSecond: boolean,
): Adapted | null {
  const lesson = lessonOf(refused, request, Date.now());
  if (lesson !== null) memory.learn(lesson.facts);
  const next = lesson === null ? request : { ...request, facts: mergeFacts(request.facts ?? {}, lesson.facts) };
  if (lesson !== null && !isSecond) return { request: next, notice: lesson.notice && `${lesson.notice} (${said})` };
  if (!isSecond && !holdsMore(request)) return null;
  const notice = `'${request.model}' refused the request: this answer is without tools, thinking, and what earlier messages had beside words. (${said})`;
  return { request: plainest(next), notice };
}

/** Null when the request holds nothing of what was refused. */
function lessonOf(refused: Refused, request: ChatRequest, now: number): Lesson | null {
  switch (refused.what) {
    case 'features':
      return featureLesson(refused.features, request, now);
    case 'thinking':
      return thinkingLesson(refused.levels, request, now);
    case 'files':
      return filesLesson(request, now);
    case 'roles': {
      const cause = (['tools', 'system'] as const).find((feature) => holds(request, feature));
      return cause === undefined ? null : featureLesson([cause], request, now);
    }
    default:
      return null;
  }
}

function featureLesson(features: readonly Feature[], request: ChatRequest, now: number): Lesson | null {
  const held = features.filter((feature) => holds(request, feature));
  const [first] = held;
  if (first === undefined) return null;
  const notice = noticeOf(first, request);
  // Opaque parts are refused where their author has changed; those of later answers have the new one.
  if (first === 'opaque' && request.facts?.opaque_since === undefined)
    return { facts: { opaque_since: now + 1 }, notice };
  const facts = {
    takes: Object.fromEntries(held.map((feature) => [feature, false])),
    refused_at: Object.fromEntries(held.map((feature) => [feature, now])),
  };
  return { facts, notice };
}

function thinkingLesson(
  levels: Extract<Refused, { what: 'thinking' }>['levels'],
  { thinking, facts, model }: ChatRequest,
  now: number,
): Lesson | null {
  const earlier = facts?.refused_thinking ?? [];
  const sent = thinking === null ? null : nextThinking(thinking, earlier);
  if (thinking === null || sent === null) return null;
  const refused_thinking = levels === 'all' ? THINKING_LEVELS : [sent, ...(levels === 'this' ? [] : levels)];
  const next = nextThinking(thinking, [...earlier, ...refused_thinking]);
  const instead = next === null ? 'it thinks as it does by itself' : `it thinks '${next}'`;
  return {
    facts: { refused_thinking, refused_at: { thinking: now } },
    notice: `'${model}' does not take thinking '${sent}': ${instead}.`,
  };
}

/** A single file is refused: those of earlier messages are left out, unless it may be one of the newest. */
function filesLesson(request: ChatRequest, now: number): Lesson | null {
  const { earlier, newest } = attachmentsOf(request);
  if (earlier.length === 0 || newest.length > 0) return null;
  return {
    facts: { refused_files: earlier, refused_at: { files: now } },
    notice: `'${request.model}' refused a file of an earlier message: the files of earlier messages are named in words.`,
  };
}

function noticeOf(feature: Feature, { model }: ChatRequest): string | null {
  switch (feature) {
    case 'images':
      return `'${model}' takes no images: those of earlier messages are named in words.`;
    case 'documents':
      return `'${model}' takes no documents: those of earlier messages are named in words.`;
    case 'audio':
      return `'${model}' takes no audio: that of earlier messages is named in words.`;
    case 'opaque':
      return `'${model}' does not take back the thinking of earlier answers: it is left out.`;
    case 'tools':
      return `'${model}' takes no tools here: it answers without them.`;
    case 'web':
      return `'${model}' cannot search the web here: it answers without.`;
    default:
      return null;
  }
}

/** Whether the request, as it was sent, has a feature. */
function holds(request: ChatRequest, feature: Feature): boolean {
  if (request.facts?.takes?.[feature] === false) return false;
  const { messages } = request;
  const has = (test: (part: Part) => boolean) => messages.some(({ content }) => content.some(test));
  switch (feature) {
    case 'tools':
      return request.tools.length > 0 || has(({ type }) => type === 'tool_call');
    case 'parallel_calls':
      return messages.some(({ content }) => content.filter(({ type }) => type === 'tool_call').length > 1);
    case 'call_ids':
      return has(({ type }) => type === 'tool_call');
    case 'images':
      return has(({ type }) => type === 'image');
    case 'documents':
      return has(({ type }) => type === 'document');
    case 'audio':
      return false;
    case 'opaque':
      return has((part) => part.type === 'thinking' || ('opaque' in part && part.opaque !== undefined));
    case 'system':
      return request.system.length > 0;
    case 'web':
      return request.web === 'on' || request.web === 'auto';
  }
}

/** Whether what was said before, or how hard to think, can be why a request is refused. */
function holdsMore(request: ChatRequest): boolean {
  const hasCalls = request.messages.some(({ content }) => content.some(({ type }) => type === 'tool_call'));
  return hasCalls || request.thinking !== null || holds(request, 'opaque') || attachmentsOf(request).earlier.length > 0;
}

/** Words alone, but for the files of the newest message. */
function plainest(request: ChatRequest): ChatRequest {
  const takes = { tools: false, parallel_calls: false, opaque: false, web: false, system: false, call_ids: false };
  const facts = mergeFacts(request.facts ?? {}, { takes, refused_files: attachmentsOf(request).earlier });
  return { ...request, thinking: null, facts };
}

/** The SHA-256 of the files before the newest message of the user, and of those in it. */
function attachmentsOf({ messages }: ChatRequest): { earlier: readonly string[]; newest: readonly string[] } {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const filesOf = (some: ChatRequest['messages']) =>
    some.flatMap(({ content }) =>
      content.flatMap((part) => (part.type === 'image' || part.type === 'document' ? [part.sha256] : [])),
    );
  return { earlier: filesOf(messages.slice(0, asked)), newest: filesOf(messages.slice(asked)) };
}
