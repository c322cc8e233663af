import { isJsonObject } from '../../chat/json.js';
import { isAudio, type Part } from '../../chat/message.js';
import {
  type Feature,
  goesInWords,
  isRefused,
  type ModelFacts,
  mergeFacts,
  nextThinking,
  optionName,
  refusedNow,
  THINKING_LEVELS,
  type ThinkingLevel,
} from '../../chat/model.js';
import { type ChatRequest, isSchemaRefused, schemaKey } from '../../chat/request.js';
import { unreachable } from '../../errors.js';
import type { Refused, RequestRefusal } from '../../providers/common/provider.js';

/** What hi learns from a refusal. */
interface Lesson {
  readonly facts: ModelFacts;
  readonly notice: string | null;
}

/** Null if the request contains nothing of what was refused. */
export function lessonOf(refusal: RequestRefusal, request: ChatRequest, now: number): Lesson | null {
  const { refused, code } = refusal;
  const options = code === 'window' ? [] : refusedOptions(refusal, request);
  if (options.length > 0) return optionsLesson(options, request, now);
  switch (refused.what) {
    case 'features':
      return featureLesson(refused.features, request, now);
    case 'thinking':
      return thinkingLesson(refused.levels, request, now);
    case 'files':
      return filesLesson(request, now, code === 'window');
    case 'roles': {
      const cause = (['tools', 'system'] as const).find((feature) => contains(request, feature));
      return cause === undefined ? null : featureLesson([cause], request, now);
    }
    case 'schema':
      return schemaLesson(request, now);
    case 'output':
      return outputLesson(refused.most, request, now);
    case 'thoughts':
      return thoughtsLesson(request, now);
    case 'unsaid':
      return null;
    default:
      return unreachable(refused);
  }
}

function featureLesson(features: readonly Feature[], request: ChatRequest, now: number): Lesson | null {
  const held = features.filter((feature) => contains(request, feature));
  const [first] = held;
  if (first === undefined) return null;
  const notice = noticeOf(first, request);
  // Opaque parts are refused after their author changed. Those of later answers come from the new one.
  if (first === 'opaque' && !isRefused(request.facts, 'earlier_opaque'))
    return { facts: refusedNow(['earlier_opaque'], now), notice };
  return { facts: refusedNow(held, now), notice };
}

function thinkingLesson(
  levels: Extract<Refused, { what: 'thinking' }>['levels'],
  { thinking, facts, model }: ChatRequest,
  now: number,
): Lesson | null {
  const sent = thinking === null ? null : nextThinking(thinking, facts);
  if (thinking === null || sent === null) return null;
  const refused = levels === 'all' ? THINKING_LEVELS : [sent, ...(levels === 'this' ? [] : levels)];
  const learnt = refusedNow(
    refused.map((level) => `thinking ${level}` as const),
    now,
  );
  const next = nextThinking(thinking, mergeFacts(facts ?? {}, learnt));
  const instead = next === null ? 'its default level is used' : `'${next}' is used`;
  return {
    facts: learnt,
    notice: `'${model}' does not support thinking '${sent}': ${instead}.`,
  };
}

/** Thinking of earlier answers is sent with each of them; if that is refused too, it was no demand. */
function thoughtsLesson(request: ChatRequest, now: number): Lesson | null {
  if (!request.facts?.takes?.thoughts) return { facts: { takes: { thoughts: true } }, notice: null };
  const lesson = featureLesson(['opaque'], request, now);
  return lesson && { ...lesson, facts: mergeFacts(lesson.facts, { takes: { thoughts: false } }) };
}

/** One file is refused, or all together: files of earlier messages are left out, unless it may be one of the newest. */
function filesLesson(request: ChatRequest, now: number, areAll: boolean): Lesson | null {
  const { earlier, newest } = attachmentsOf(request);
  if (earlier.length === 0 || (newest.length > 0 && !areAll)) return null;
  const what = areAll ? 'all the files together' : 'a file of an earlier message';
  return {
    facts: refusedNow(
      earlier.map((sha256) => `file ${sha256}` as const),
      now,
    ),
    notice: `'${request.model}' refused ${what}: the files of earlier messages are only mentioned.`,
  };
}

/** An option is left out with its value: another value, or another model, may be accepted. */
function optionsLesson(names: readonly string[], { model, options = {} }: ChatRequest, now: number): Lesson {
  const quoted = names.map((name) => `'${name}'`).join(' and ');
  const [what, they] = names.length === 1 ? ['the option', 'it is'] : ['the options', 'they are'];
  return {
    facts: refusedNow(
      names.map((name) => `option ${optionName([name, options[name]])}` as const),
      now,
    ),
    notice: `'${model}' does not accept ${what} ${quoted} as configured: ${they} left out.`,
  };
}

/** Asks for a shorter answer. If the request was already below the limit, sends no limit. */
function outputLesson(most: number, request: ChatRequest, now: number): Lesson | null {
  const { max_output_tokens, facts, model } = request;
  const sent = Math.min(
    max_output_tokens ?? Number.POSITIVE_INFINITY,
    facts?.max_output_tokens ?? Number.POSITIVE_INFINITY,
  );
  if (most >= sent) return featureLesson(['output_limit'], request, now);
  const notice = max_output_tokens === null ? null : `'${model}' writes at most ${most} tokens in one answer.`;
  return { facts: { max_output_tokens: most }, notice };
}

/** Another schema may be accepted. */
function schemaLesson(request: ChatRequest, now: number): Lesson | null {
  const { schema, model } = request;
  if (schema === undefined || isSchemaRefused(request)) return null;
  return {
    facts: refusedNow([`schema ${schemaKey(schema)}`], now),
    notice: `'${model}' refused the schema: it is given in words.`,
  };
}

function noticeOf(feature: Feature, { model, facts }: ChatRequest): string | null {
  switch (feature) {
    case 'images':
      return `'${model}' does not support images: those of earlier messages are only mentioned.`;
    case 'documents':
      return `'${model}' does not support documents: those of earlier messages are only mentioned.`;
    case 'audio':
      return `'${model}' does not support audio: that of earlier messages is only mentioned.`;
    case 'opaque':
      return `'${model}' does not accept the thinking of earlier answers: it is left out.`;
    case 'tools':
      return `'${model}' does not support tools here: it answers without them.`;
    case 'schema':
      return `'${model}' cannot be held to a schema: it is given in words.`;
    case 'web':
      return `'${model}' cannot search the web here: it answers without searching.`;
    case 'summaries':
      return `'${model}' does not show its thinking here.`;
    case 'chat':
      return `'${model}' takes tools through the Responses API here, which is used from now on.`;
    case 'responses':
      return facts?.takes?.chat === false
        ? `'${model}' takes tools here only without thinking: it answers without thinking.`
        : `There is no Responses API here: Chat Completions is used for '${model}' from now on.`;
    case 'stream':
      return `'${model}' does not stream here: answers arrive in one piece.`;
    default:
      return null;
  }
}

/** Whether the request, as it was sent, has a feature. */
export function contains(request: ChatRequest, feature: Feature): boolean {
  if (request.facts?.takes?.[feature] === false) return false;
  const { messages } = request;
  const has = (test: (part: Part) => boolean) => messages.some(({ content }) => content.some(test));
  switch (feature) {
    case 'tools':
      return request.tools.length > 0 || has(({ type }) => type === 'tool_call');
    case 'parallel_calls':
      return messages.some(({ content }) => content.filter(({ type }) => type === 'tool_call').length > 1);
    case 'calls':
    case 'call_ids':
      return has(({ type }) => type === 'tool_call');
    case 'images':
      return has(({ type }) => type === 'image');
    case 'documents':
      return has((part) => part.type === 'document' && !isAudio(part));
    case 'audio':
      return has((part) => part.type === 'document' && isAudio(part));
    case 'opaque':
    case 'thoughts':
      return has(isOpaque);
    case 'system':
      return request.system.length > 0;
    case 'summaries':
      return request.thinking !== null && request.thinking !== 'off';
    case 'schema':
      return request.schema !== undefined && !isSchemaRefused(request);
    case 'output_limit':
      return request.max_output_tokens !== null;
    case 'chat':
    case 'responses':
    case 'stream':
    case 'extras':
      return true;
    case 'web':
      return request.web === 'on' || request.web === 'auto';
  }
}

const isOpaque = (part: Part): boolean => part.type === 'thinking' || ('opaque' in part && part.opaque !== undefined);

/** Whether a part is sent to vendors as something other than text. */
const isToldOtherwise = ({ type }: Part): boolean => type !== 'text' && type !== 'thinking' && type !== 'vendor';

/** Whether earlier messages, as sent, contain anything but text. */
export function holdsOldParts(request: ChatRequest): boolean {
  const { messages, facts = {} } = request;
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  return messages.some((message, at) => {
    if (at === asked || goesInWords(message, facts)) return false;
    return message.content.some((part) => isToldOtherwise(part) || (message.model === request.model && isOpaque(part)));
  });
}

/** The thinking level that is sent. */
export const thinkingOf = ({ thinking, facts }: ChatRequest): ThinkingLevel | null =>
  thinking === null ? null : nextThinking(thinking, facts);

/** The options of the user that are sent, as `optionName` writes them. */
export const sentOptions = ({ options = {}, facts }: ChatRequest): readonly string[] =>
  Object.entries(options)
    .map(optionName)
    .filter((option) => !isRefused(facts, `option ${option}`));

/** The SHA-256 of the files before the newest message of the user, and of those in it. */
export function attachmentsOf({ messages }: ChatRequest): { earlier: readonly string[]; newest: readonly string[] } {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const filesOf = (some: ChatRequest['messages']) =>
    some.flatMap(({ content }) =>
      content.flatMap((part) => (part.type === 'image' || part.type === 'document' ? [part.sha256] : [])),
    );
  return { earlier: filesOf(messages.slice(0, asked)), newest: filesOf(messages.slice(asked)) };
}

/** Options whose names are common words: only a quoted name counts as the option. */
const COMMON_WORDS: ReadonlySet<string> = new Set(['user', 'stop', 'store', 'metadata', 'speed', 'transforms']);

/** The minimum length of the last word of a name that identifies an option by itself. */
const DISTINCT = 7;

/** Words that say two options exclude each other. */
const ONE_OF_THEM = /\bboth\b|only one|together|at the same time|mutually/i;

/**
 * The user's options that the server names in its refusal, by their names in the configuration. Of two that exclude
 * each other, the later one.
 */
export function refusedOptions(
  { said, param }: Pick<RequestRefusal, 'said' | 'param'>,
  { options = {}, facts }: Pick<ChatRequest, 'options' | 'facts'>,
): readonly string[] {
  const sent = Object.entries(options).filter((option) => !isRefused(facts, `option ${optionName(option)}`));
  const named = sent.flatMap(([name, value]) => {
    const own = name === 'extra_body' && isJsonObject(value) ? Object.keys(value) : [name];
    return own.some((one) => isNamed(one, said, param)) ? [name] : [];
  });
  return named.length > 1 && ONE_OF_THEM.test(said) ? named.slice(-1) : named;
}

function isNamed(name: string, said: string, param: string | null): boolean {
  const camel = name.replace(/_(.)/g, (_all, letter: string) => letter.toUpperCase());
  const last = name.slice(name.lastIndexOf('_') + 1);
  const isOne = (word: string) => word === name || word === camel;
  if (param !== null) return isOne(param.replace(/^.*[.\]]/, ''));
  // Google says "Penalty is not enabled".
  if (last.length >= DISTINCT && said.toLowerCase().includes(last)) return true;
  if (!COMMON_WORDS.has(name)) return (said.match(/[\w-]+/g) ?? []).some(isOne);
  return (said.match(/(?<=['"`])\w+(?=['"`])/g) ?? []).some(isOne);
}
