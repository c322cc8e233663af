import { type Feature, THINKING_LEVELS, type ThinkingLevel } from '../../chat/model.js';
import { wholeNumbers } from '../../chat/text.js';
import type { ErrorCode } from '../../errors.js';
import type { Refused } from './provider.js';
import { isBodyTooLarge, saysOverflow, type VendorError, WEB_PAGE } from './vendor-error.js';

/** What the server does not accept; null if its message does not say. */
export function refusedBy({ status, kinds, message, param }: VendorError): Refused | null {
  if (status !== null && (status < 400 || NOT_ABOUT_REQUEST.has(status))) return null;
  const said = `${kinds.join(' ')} ${message}`.toLowerCase();
  if (saysOverflow(said)) return null;
  const words = param === null ? said : `${param.toLowerCase()} ${said}`;
  const most = outputLimitIn(words);
  if (most !== null) return { what: 'output', most };
  const isThinking = /effort|reasoning|thinking/.test(words);
  const api = OTHER_API.find(({ words: own, also }) => own.test(words) && (also?.test(words) ?? true));
  if (api !== undefined) return api.refused;
  const named = PARAMS.find(([pattern]) => param !== null && pattern.test(param));
  if (named && !isThinking) return named[1];
  const denied = DENIAL.test(said);
  const about = words.replace(SUPPORTED_LIST, '');
  const found = SENTENCES.find(
    ({ alone, also, unless, words: own }) =>
      (alone || denied) && own.test(about) && (also?.test(about) ?? true) && !unless?.test(about),
  )?.refused;
  if (found?.what === 'thinking') return { ...found, levels: unsupportedLevels(said) ?? found.levels };
  return found ?? null;
}

/** The list of supported values, which are not refused. */
const SUPPORTED_LIST = /supported values are:? [^.]*/;

/** The levels that are missing from a list of supported ones; null if there is no list. */
function unsupportedLevels(said: string): readonly ThinkingLevel[] | null {
  const list =
    /\b(?:supported|allowed|valid|possible) (?:values?|levels?|efforts?)\b([^.]*)|must be one of([^.]*)|should be ('[^.]*)/.exec(
      said,
    );
  const words =
    (list?.[1] ?? list?.[2] ?? list?.[3] ?? '').match(/\b(?:none|minimal|off|low|medium|high|xhigh|max)\b/g) ?? [];
  if (words.length === 0) return null;
  const supported = words.map((word) => (word === 'none' || word === 'minimal' ? 'off' : word));
  return THINKING_LEVELS.filter((level) => !supported.includes(level));
}

/** Statuses about the key, the account or the load, and not about the request. */
const NOT_ABOUT_REQUEST: ReadonlySet<number> = new Set([401, 402, 407, 408, 429, 502, 503, 504]);

/** The part of the request that the server refused; null if the request is not the cause. */
export function refusalOf(code: ErrorCode, error: VendorError): Refused | null {
  const words = `${error.kinds.join(' ')} ${error.message}`.toLowerCase();
  switch (code) {
    case 'request':
      return refusedBy(error) ?? unsaid(isAboutRequest(error, words), !isByAFirewall(error));
    case 'overload':
      return refusedBy(error) ?? unavailableFeatures(error) ?? unsaid(!isBusy(error, words), false);
    case 'malformed':
      return unsaid(/tool_use_failed/.test(words), false);
    case 'model':
      // A gateway without a model for a feature reports a missing model.
      return withMissingModel(refusedBy(error), words);
    case 'key':
      // A valid key may not include images.
      if (!KEY_ERROR.test(words)) {
        const refused = onlyFeatures(refusedBy({ ...error, status: null }));
        if (refused !== null) return refused;
      }
      return unsaid(error.status === 403 && hasNoReason(error.message), false);
    case 'window':
      // Too many bytes rather than too many tokens.
      return isBodyTooLarge(error) ? { what: 'files' } : null;
    case 'quota':
    case 'rate':
      return unavailableFeatures(error);
    default:
      return null;
  }
}

/** A plan or a deployment lacks the feature. Waiting does not help. */
const UNAVAILABLE =
  /\b(?:not|n['’]t) (?:be )?(?:yet )?(?:support|accept|allow|available|enabled|permitted|included|offered)|unsupported/;
const REQUIRES = /\b(?:requires?|needs?|only (?:available|included|supported)) /;
const PLAN = /\b(?:paid|higher|plan|tier|subscription|upgrade)/;

const TEMPORARY =
  /\blimits?\b|quota|exceed|too many|per[ -](?:second|minute|min|hour|day|month)|try again|later\b|balance|credits?\b|budget|current|moment|temporar|busy|\bload|capacity/;

/** The unavailable features, even if the status is about the account or the load. */
function unavailableFeatures(error: VendorError): Refused | null {
  const said = error.message.toLowerCase();
  const isMissing = UNAVAILABLE.test(said) || (REQUIRES.test(said) && PLAN.test(said));
  return isMissing && !TEMPORARY.test(said) ? onlyFeatures(refusedBy({ ...error, status: null })) : null;
}

const unsaid = (holds: boolean, isCertain: boolean): Refused | null => (holds ? { what: 'unsaid', isCertain } : null);

/**
 * Refusals that look like a missing model. A thinking level counts only if the word is not part of the missing model's
 * name.
 */
const withMissingModel = (refused: Refused | null, words: string): Refused | null =>
  refused?.what === 'thinking' && /unsupported|not support|unrecogni[sz]ed/.test(words)
    ? refused
    : onlyFeatures(refused);

const onlyFeatures = (refused: Refused | null): Refused | null => (refused?.what === 'features' ? refused : null);

/** Errors of the key itself. */
const KEY_ERROR =
  /\b(?:invalid|incorrect|wrong|expired|missing|revoked|unknown|malformed|disabled|no) (?:api |auth |access |security |subscription )?(?:key|token|credentials?)\b|\b(?:key|token|credentials?) (?:is |was |has been )?(?:not valid|not found|invalid|incorrect|expired|disabled|revoked|missing|provided|included)|authenti|signature|sign.?in|log.?in/;

/** True if the request itself may be the cause, whatever the message. */
const isAboutRequest = ({ status, kinds }: VendorError, words: string): boolean =>
  !(
    WRONG_ADDRESS.has(status ?? 0) ||
    (status === 404 && kinds.includes(WEB_PAGE)) ||
    /location|region|residency|system memory/.test(words)
  );

const WRONG_ADDRESS: ReadonlySet<number> = new Set([401, 405, 407]);

/** Firewalls inspect the content and respond with a web page of their own. */
export const isByAFirewall = ({ status, kinds, message }: Pick<VendorError, 'status' | 'kinds' | 'message'>): boolean =>
  status === 403 && (kinds.includes(WEB_PAGE) || FIREWALLS.test(message));

const FIREWALLS =
  /\bfirewall|\bwaf\b|attention required|security (?:service|solution|rule)|support id\b|ray id\b|incident id\b/i;

/** True if the message only repeats the status. */
export const hasNoReason = (message: string): boolean =>
  /^(?:(?:403|http|error|access|request|permission|denied|forbidden)[\s:.]*)*$/i.test(message);

/** True if the server is busy. */
const isBusy = ({ status }: VendorError, words: string): boolean =>
  BUSY.has(status ?? 0) || /overloaded|capacity|loading|system memory|upstream/.test(words);

const BUSY: ReadonlySet<number> = new Set([503, 504, 522, 524, 529]);

/** Words that say no. The same sentence may also name what is supported. */
const DENIAL =
  /\bnot\b|n['’]t\b|\bno\b|\bnon\b|\bonly\b|unsupported|unknown|unrecogni[sz]ed|unexpected|unavailable|invalid|illegal|forbidden|disallowed|missing|cannot|disabled|requires?\b|required|must\b|expected|\bextra\b|at most|should|could not|corrupt|without|lacks?\b|不支持|非法|参数/;

interface Sentence {
  readonly words: RegExp;
  /** A second pattern that must match too, and one that must not. */
  readonly also?: RegExp;
  readonly unless?: RegExp;
  readonly refused: Refused;
  /** True if the sentence is a refusal without a `DENIAL`. */
  readonly alone?: boolean;
}

const features = (...names: readonly Feature[]): Refused => ({ what: 'features', features: names });

/**
 * What a sentence refuses; the first match counts. The words are those of OpenAI, Azure, Anthropic, Bedrock, Google,
 * Groq, xAI, Mistral, DeepSeek, Moonshot, Zhipu, Alibaba, OpenRouter, Together, Copilot, Perplexity, Cohere, Cerebras,
 * Fireworks, vLLM, SGLang, TGI, LocalAI, llama.cpp, LM Studio and Ollama, and those of chat templates.
 */
const SENTENCES: readonly Sentence[] = [
  // One file: too large, broken, or of an unknown type.
  {
    words:
      /(?:image|picture|photo|media|pdf|document|file)s?\b.{0,120}(?:exceed|too (?:large|small|many|big)|dimension|pixels|resolution|corrupt|decod|password|\bpages\b|\bmb\b|bytes|download)/,
    refused: { what: 'files' },
    alone: true,
  },
  {
    words: /image: unknown format|appears to be an? image/,
    refused: { what: 'files' },
    alone: true,
  },
  {
    words:
      /(?:could not|unable to|failed to) process (?:the |this |your |input |provided )*(?:image|pdf|document|file)\b(?! input)|valid image|following formats/,
    refused: { what: 'files' },
    alone: true,
  },

  // Fields that do not affect the answer.
  {
    words:
      /stream_options|cache_control|thinking\S{0,20}[._]display|prompt_cache_(?:key|options)|parameter: \W?(?:store|include)\b/,
    refused: features('extras'),
  },

  // Streaming.
  {
    words: /(?<![_\w])stream(?:s|ing|ed)?\b/,
    also: /(?:not|n['’]t|un)[ -]?(?:yet )?(?:be )?(?:support|allow|accept|available|permitted|enabled|implement|used|work|do\b)|cannot use|(?:must|should) be (?:set to )?false|verified to stream/,
    refused: features('stream'),
  },

  // Thinking that must come back: DeepSeek and Kimi.
  {
    words: /(?:must|should|needs? to) be (?:passed|sent|provided|included|returned) back/,
    also: /reasoning|thinking/,
    refused: { what: 'thoughts' },
    alone: true,
  },

  // The same in any other words: a server that does not know the field says so.
  {
    words: /reasoning[_ ]content/,
    unless:
      /unsupported|unrecogni[sz]ed|unknown|unexpected|\bextra\b|additional|forbidden|(?:not|n['’]t|cannot|never) (?:be )?(?:yet )?(?:support|accept|allow|permit|sen[dt]|passed|valid|set|used?\b)/,
    refused: { what: 'thoughts' },
    alone: true,
  },

  // Opaque data that only its author can read.
  {
    words:
      /signature|encrypted[_ ]content|reasoning[_ ](?:content|details|item)|property 'reasoning'|redacted_thinking|of type 'reasoning'/,
    refused: features('opaque'),
  },

  // The schema of the answer: the field, or this schema.
  {
    words:
      /(?:not|n['’]t) (?:support|accept|allow)\w* (?:\S+ ){0,6}(?:response_format|output_config\.format|text\.format|response_?mime_?type|response_?(?:json_?)?schema|json_schema|structured[ _-]outputs?|json[ _]mode)|(?:response_format|output_config\.format|text\.format|response_?mime_?type|response_?(?:json_?)?schema|json_schema|structured[ _-]outputs?|json[ _]mode|with a response mime type)[^.]{0,60}(?:(?:not|un)[ -]?(?:yet )?(?:supported|available|allowed|permitted|enabled|implemented)|unavailable|extra inputs|extra_forbidden)/,
    refused: features('schema'),
    alone: true,
  },
  {
    words:
      /response_format|output_config\.format|text\.format|response_?(?:json_?)?schema|schema in format|\bgrammar\b|schema (?:is )?too complex/,
    refused: { what: 'schema' },
    alone: true,
  },

  // The thinking level, and whether summaries are shown: OpenAI shows them to verified organisations only.
  { words: /reasoning[._ ]summar/, refused: features('summaries') },
  {
    words:
      /(?:n[o'’]t|cannot) (?:support|accept|allow) (?:the )?(?:effort parameter|reasoning|thinking|parameter `?'?reasoning)(?! level)|(?:unrecogni[sz]ed|unknown|unsupported|extra|unexpected) (?:request )?(?:arguments?|parameters?|names?|fields?|inputs?).{0,80}(?:reasoning|effort|thinking|\bthink\b)|thinking(?:[_ ]level)? is not (?:supported|enabled)|reasoning.{0,80}(?:extra_forbidden|not permitted)|reasoning[_. ]effort[`'"]? (?:parameter )?is not (?:supported|available|allowed|permitted|recogni[sz]ed)/,
    refused: { what: 'thinking', levels: 'all' },
    alone: true,
  },
  // Ollama names only the level.
  {
    words: /effort|thinking|\bthink\b|unsupported value:? \W?(?:none|minimal|off|low|medium|high|xhigh|max)\b/,
    refused: { what: 'thinking', levels: 'this' },
  },

  // The answer limit, without a number that would be accepted.
  {
    words: /\bmax_(?:completion_|output_|new_)?tokens\b/,
    refused: features('output_limit'),
  },

  // Errors of chat templates, and of servers with the same checks.
  {
    words: /single tool.?calls?/,
    refused: features('parallel_calls'),
  },
  // A call without its result, or a result without its call.
  {
    words:
      /must be followed by tool messages|response to a prec\w+ message with \W?tool_calls|same number of function calls and responses|without \W?tool_(?:result|use)|function call turn comes/,
    refused: features('calls'),
    alone: true,
  },
  {
    words: /tool.?(?:call|use)?[ _.]?ids?\b/,
    refused: features('call_ids'),
  },
  { words: /\balternat|must have role|message prefill/, refused: { what: 'roles' }, alone: true },
  {
    words: /(?:system|developer) (?:role|message|prompt|instruction)|support '(?:system|developer)'/,
    refused: features('system'),
  },
  {
    words:
      /role '?"?(?:tool|function)|(?:last|unexpected|invalid|unknown) role|user query|(?<!--)jinja|\btemplate: :\d/,
    refused: { what: 'roles' },
    alone: true,
  },

  { words: /web[_ ]?search|search grounding/, refused: features('web') },
  {
    words: /\btools?\b|function[ _]?(?:call|tool|declaration)|\bfunctions\b/,
    refused: features('tools'),
  },

  { words: /audio/, refused: features('audio') },
  { words: /image|vision|multi-?modal/, refused: features('images') },
  {
    words: /\bpdfs?\b|documents?\b|(?:support|accept|allow|type).{0,40}\bfiles?\b/,
    refused: features('documents'),
  },
  {
    words:
      /(?:content|part|block)(?:\[\])?[. ]type|content.{0,40}(?:must be|should be|expected) (?:a )?(?:valid )?string/,
    refused: features('images', 'documents', 'audio'),
  },
  {
    words: /should be \W?text\b/,
    refused: features('images', 'documents', 'audio'),
  },
];

/** Sentences that send one to the other of OpenAI's two APIs, whatever else they name. */
const OTHER_API: readonly Sentence[] = [
  {
    words:
      /responses api (?:is |are )?(?:not|only|enabled only|unavailable)|(?:not|n['’]t) (?:\w+ ){0,6}responses api|not (?:yet )?(?:supported|available|accepted|allowed|enabled) (?:by|in|with|through|via|on) \/?(?:v1\/)?responses\b/,
    refused: features('responses'),
  },
  { words: /responses api|\/responses\b|chat ?completions? operation does not work/, refused: features('chat') },
  // Tools and thinking together: the other API takes them.
  {
    words: /reasoning[_.]effort\b.{0,80}(?:\bnone\b|chat.?completions)/,
    also: /\bfunctions?\b/,
    refused: features('chat'),
  },
];

/** The features that OpenAI's `param` can name. */
const PARAMS: readonly (readonly [RegExp, Refused])[] = [[/^parallel_tool_calls/, features('parallel_calls')]];

/** Servers' names for the answer limit. */
const NAMES = /max_(?:completion_|output_|new_)?tokens|maxoutputtokens|maximum tokens|(?:output|completion) tokens/;

/** Where their messages give the allowed maximum. */
const NUMBERS: readonly RegExp[] = [
  /> (\d+),? which is the maximum/,
  /\bat most (\d+)/,
  /<= ?\W?(\d+)/,
  /less than or equal to \W?(\d+)/,
  /\[\d{1,12}, ?(\d+)\]/,
  /\bto (\d+) \(inclusive\)/,
  /\blimit (?:of|is) (\d+)/,
  /\bmaximum (?:value )?(?:of|is) (\d+)/,
];

const EXCLUSIVE = /\bto (\d+) \(exclusive\)/;

/** The allowed answer limit in tokens, if the message refuses a larger one; null if it names none. */
function outputLimitIn(words: string): number | null {
  const text = wholeNumbers(words.toLowerCase());
  if (!NAMES.test(text)) return null;
  const found = NUMBERS.map((pattern) => pattern.exec(text)?.[1]).find((number) => number !== undefined);
  const most = Number(found ?? 0) || Number(EXCLUSIVE.exec(text)?.[1] ?? 0) - 1;
  return most > 0 ? most : null;
}
