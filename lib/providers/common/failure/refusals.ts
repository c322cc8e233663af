import type { Feature } from '../../../chat/model/model-facts.js';
import { THINKING_LEVELS, type ThinkingLevel } from '../../../chat/model/thinking-level.js';
import type { ErrorCode } from '../../../errors.js';
import type { Refused } from '../provider.js';
import { saysOverflow } from './overflow.js';
import { type VendorError, WEB_PAGE } from './vendor-error.js';

/** Words that deny: what is supported, enabled or expected is named in the same sentence. */
const DENIAL =
  /\bnot\b|n['’]t\b|\bno\b|\bnon\b|\bonly\b|unsupported|unknown|unrecogni[sz]ed|unexpected|unavailable|invalid|illegal|forbidden|disallowed|missing|cannot|disabled|requires?\b|required|must\b|expected|\bextra\b|at most|should|could not|corrupt|without|lacks?\b|不支持|非法|参数/;

interface Sentence {
  readonly words: RegExp;
  readonly refused: Refused;
  /** Whether it is a refusal without a word that denies. */
  readonly alone?: boolean;
}

const features = (...names: readonly Feature[]): Refused => ({ what: 'features', features: names });

/**
 * What a sentence is about, first match first. The words are those of OpenAI, Azure, Anthropic, Bedrock, Google, Groq, xAI, Mistral, DeepSeek, Moonshot, Zhipu,
 * Alibaba, OpenRouter, Together, Copilot, Perplexity, vLLM, SGLang, llama.cpp, LM Studio and Ollama, and those of chat templates.
 */
const SENTENCES: readonly Sentence[] = [
  // One file: too large, broken, or of a kind that its vendor does not know.
  {
    words:
      /(?:image|picture|photo|media|pdf|document|file)s?\b.{0,120}(?:exceed|too (?:large|small|many|big)|dimension|pixels|resolution|corrupt|decod|password|\bpages\b|\bmb\b|bytes|download)|at most [1-9]\d* images?|too many images/,
    refused: { what: 'files' },
    alone: true,
  },
  {
    words:
      /(?:could not|unable to|failed to) process (?:the |this |your |input |provided )*(?:image|pdf|document|file)\b(?! input)|(?:could not|unable to|cannot|failed to) (?:decode|open|read|load|identify|download|fetch).{0,60}(?:image|media|pdf|document|file)|(?:invalid|malformed|corrupt\w*|not a valid|empty) (?:base64 )?(?:image|pdf|document|file)(?: data| bytes)?\b|unsupported (?:image|media|file)\b(?! input)|valid image|following formats|unsupported mime type: image|image (?:media |mime )?(?:format|type).{0,40}(?:not|must|should)|media_type/,
    refused: { what: 'files' },
    alone: true,
  },

  // What changes no answer.
  { words: /stream_options|include_usage|cache_control|prompt_cache_key/, refused: features('extras') },

  // What only its author may read.
  {
    words:
      /signature|encrypted[_ ]content|reasoning[_ ](?:content|details|item)|redacted_thinking|`?thinking`? blocks?|of type 'reasoning'|item with id '?(?:rs|msg|fc)_/,
    refused: features('opaque'),
  },

  // What the answer must be: the field, or this schema in it.
  {
    words:
      /(?:not|n['’]t) (?:support|accept|allow)\w* (?:\S+ ){0,6}(?:response_format|output_config\.format|text\.format|response_?mime_?type|response_?(?:json_?)?schema|json_schema|structured[ _-]outputs?|json[ _]mode)|(?:unrecogni[sz]ed|unknown|unsupported|extra|unexpected) (?:request )?(?:arguments?|parameters?|names?|fields?|inputs?|keys?)\b.{0,60}(?:response_format|output_config\.format|text\.format|response_?mime_?type|response_?(?:json_?)?schema|json_schema|structured[ _-]outputs?|json[ _]mode)|(?:response_format|output_config\.format|text\.format|response_?mime_?type|response_?(?:json_?)?schema|json_schema|structured[ _-]outputs?|json[ _]mode|with a response mime type)[^.]{0,60}(?:(?:not|un)[ -]?(?:yet )?(?:supported|available|allowed|permitted|enabled|implemented)|unavailable|extra inputs|extra_forbidden)/,
    refused: features('schema'),
    alone: true,
  },
  {
    words:
      /response_format|output_config\.format|text\.format|response_?(?:json_?)?schema|(?:json|output) schema|schema in format|\bgrammar\b|schema (?:is )?too (?:complex|large|deep)/,
    refused: { what: 'schema' },
    alone: true,
  },

  // How hard to think, and what of it to show: OpenAI shows it to verified organisations.
  { words: /reasoning[._ ]summar/, refused: features('summaries') },
  {
    words:
      /(?:n[o'’]t|cannot) (?:support|accept|allow) (?:the )?(?:effort parameter|reasoning|thinking|parameter `?'?reasoning)(?! level)|(?:unrecogni[sz]ed|unknown|unsupported|extra|unexpected) (?:request )?(?:arguments?|parameters?|names?|fields?|inputs?).{0,80}(?:reasoning|effort|thinking|\bthink\b)|thinking(?:[_ ]level)? is not (?:supported|enabled)|(?:extra_forbidden|not permitted).{0,80}reasoning|reasoning.{0,80}(?:extra_forbidden|not permitted)|reasoning[_. ]effort[`'"]? (?:parameter )?is not (?:supported|available|allowed|permitted|recogni[sz]ed)/,
    refused: { what: 'thinking', levels: 'all' },
    alone: true,
  },
  { words: /reasoning|effort|thinking|\bthink\b|budget/, refused: { what: 'thinking', levels: 'this' } },

  // What chat templates say, and the servers that check as they do.
  {
    words:
      /single tool.?calls?|(?:multiple|parallel|more than one) (?:tool|function)[ _-]?calls?|parallel_tool_calls|one tool.?call/,
    refused: features('parallel_calls'),
  },
  {
    words: /tool.?(?:call|use)?[ _.]?ids?\b|tool_calls?(?:\[\d+\]|\.\d+)\.id|tool_use\.id/,
    refused: features('call_ids'),
  },
  {
    words:
      /(?:system|developer) (?:role|message|prompt|instruction)|role '?(?:system|developer)|support '(?:system|developer)'|systeminstruction|only user and assistant/,
    refused: features('system'),
  },
  {
    words:
      /alternat|(?:tool|function|ipython) role|role '?"?(?:tool|function)|(?:last|unexpected|invalid|unknown) role|user query|(?<!--)jinja|chat[ _]template|\btemplate: :\d|nil pointer evaluating/,
    refused: { what: 'roles' },
    alone: true,
  },

  { words: /web[_ ]?search|google[_ ]?search|search (?:tool|grounding)|grounding/, refused: features('web') },
  {
    words: /\btools?\b|tool_?(?:use|choice|calls?|calling)|function[ _]?(?:call|tool|declaration)|\bfunctions\b/,
    refused: features('tools'),
  },

  { words: /audio/, refused: features('audio') },
  { words: /image|vision|visual|picture|photo|multi-?modal/, refused: features('images') },
  {
    words:
      /\bpdfs?\b|documents?\b|input_file|`file`|\bfiles?\b.{0,40}(?:support|accept|allow|type|input)|(?:support|accept|allow|type).{0,40}\bfiles?\b/,
    refused: features('documents'),
  },
  {
    words:
      /(?:content|part|block)(?:\[\])?[. ]type|modalit|content.{0,40}(?:must be|should be|expected) (?:a )?(?:valid )?string|media/,
    refused: features('images', 'documents', 'audio'),
  },
];

/** What OpenAI's `param` says of a feature, where it names one. */
const PARAMS: readonly (readonly [RegExp, Refused])[] = [
  [/^parallel_tool_calls/, features('parallel_calls')],
  [/^tools?(?:_choice|\b)/, features('tools')],
  [/encrypted_content|signature/, features('opaque')],
  [/tool_calls?\[\d+\]\.id|tool_call_id/, features('call_ids')],
];

/** What the server does not take; null where its words do not tell. */
export function refusedBy({ status, kinds, message, param }: VendorError): Refused | null {
  if (status !== null && (status < 400 || NO_REFUSALS.has(status))) return null;
  const said = `${kinds.join(' ')} ${message}`.toLowerCase();
  if (saysOverflow(said)) return null;
  const words = param === null ? said : `${param.toLowerCase()} ${said}`;
  const isThinking = /effort|reasoning|thinking/.test(words);
  const named = PARAMS.find(([pattern]) => param !== null && pattern.test(param));
  if (named && !isThinking) return named[1];
  const denied = DENIAL.test(said);
  const found = SENTENCES.find((one) => (one.alone || denied) && one.words.test(words))?.refused;
  if (found?.what === 'thinking') return { ...found, levels: unsupportedLevels(said) ?? found.levels };
  return found ?? null;
}

/** The levels that a list of the supported ones leaves out; null when there is no list. */
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

/** These say something of the key, the account or the moment, and nothing of what was sent. */
const NO_REFUSALS: ReadonlySet<number> = new Set([401, 402, 407, 408, 409, 429, 502, 503, 504]);

/** What of the request an error of this kind is about; null when it is about none of it. */
export function refusalOf(code: ErrorCode, error: VendorError): Refused | null {
  const words = `${error.kinds.join(' ')} ${error.message}`.toLowerCase();
  switch (code) {
    case 'request':
      return refusedBy(error) ?? unsaid(isOfTheRequest(error, words), true);
    case 'overload':
      return refusedBy(error) ?? notOffered(error) ?? unsaid(!isOfTheMoment(error, words), false);
    case 'malformed':
      return unsaid(/tool_use_failed/.test(words), false);
    case 'model':
      // What a gateway has not got for a feature it calls a missing model.
      return onlyFeatures(refusedBy(error));
    case 'key':
      // The key may be good, and not for images.
      return OF_THE_KEY.test(words) ? null : onlyFeatures(refusedBy({ ...error, status: null }));
    case 'window':
      // Too many bytes, not too many tokens.
      return error.status === 413 && !/token|context/.test(words) ? { what: 'files' } : null;
    case 'quota':
    case 'rate':
      return notOffered(error);
    default:
      return null;
  }
}

/** What a plan or a deployment has not got, which no waiting brings. */
const PLAN =
  /\b(?:not|n['’]t) (?:be )?(?:yet )?(?:support|accept|allow|available|enabled|permitted|included|offered)|unsupported|(?:requires?|needs?|only (?:available|included|supported)) .{0,40}(?:paid|higher|plan|tier|subscription|upgrade)/;

const OF_THE_PACE =
  /\blimits?\b|quota|exceed|too many|per[ -](?:second|minute|min|hour|day|month)|try again|later\b|balance|credits?\b|budget|current|moment|temporar|busy|\bload|capacity/;

/** The features that are not to be had, whatever the status says of the account or the moment. */
function notOffered(error: VendorError): Refused | null {
  const said = error.message.toLowerCase();
  return PLAN.test(said) && !OF_THE_PACE.test(said) ? onlyFeatures(refusedBy({ ...error, status: null })) : null;
}

const unsaid = (holds: boolean, isCertain: boolean): Refused | null => (holds ? { what: 'unsaid', isCertain } : null);

const onlyFeatures = (refused: Refused | null): Refused | null => (refused?.what === 'features' ? refused : null);

const OF_THE_KEY = /\bkey\b|credential|authentic|bearer|token|signature|sign.?in|log.?in/;

/** Whether it is refused for what it holds, whatever the words. */
const isOfTheRequest = ({ status, kinds }: VendorError, words: string): boolean =>
  !(
    OF_THE_PLACE.has(status ?? 0) ||
    (status === 404 && kinds.includes(WEB_PAGE)) ||
    /location|region|system memory/.test(words)
  );

const OF_THE_PLACE: ReadonlySet<number> = new Set([401, 403, 405, 407]);

/** Whether the server is busy, whatever it is asked. */
const isOfTheMoment = ({ status }: VendorError, words: string): boolean =>
  BUSY.has(status ?? 0) || /overloaded|capacity|loading|system memory|upstream/.test(words);

const BUSY: ReadonlySet<number> = new Set([503, 504, 522, 524, 529]);
