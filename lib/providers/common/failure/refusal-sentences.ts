import type { Feature } from '../../../chat/model.js';
import type { Refused } from '../provider.js';

/** Words that say no. The same sentence may also name what is supported. */
export const DENIAL =
  /\bnot\b|n['’]t\b|\bno\b|\bnon\b|\bonly\b|unsupported|unknown|unrecogni[sz]ed|unexpected|unavailable|invalid|illegal|forbidden|disallowed|missing|cannot|disabled|requires?\b|required|must\b|expected|\bextra\b|at most|should|could not|corrupt|without|lacks?\b|不支持|非法|参数/;

interface Sentence {
  readonly words: RegExp;
  /** A second pattern that must match too. */
  readonly also?: RegExp;
  readonly refused: Refused;
  /** True if the sentence is a refusal without a `DENIAL`. */
  readonly alone?: boolean;
}

const features = (...names: readonly Feature[]): Refused => ({ what: 'features', features: names });

/**
 * What a sentence refuses; the first match counts. The words are those of OpenAI, Azure, Anthropic, Bedrock, Google, Groq, xAI, Mistral, DeepSeek, Moonshot,
 * Zhipu, Alibaba, OpenRouter, Together, Copilot, Perplexity, Cohere, Cerebras, Fireworks, vLLM, SGLang, TGI, LocalAI, llama.cpp, LM Studio and Ollama, and
 * those of chat templates.
 */
export const SENTENCES: readonly Sentence[] = [
  // One file: too large, broken, or of an unknown type.
  {
    words:
      /(?:image|picture|photo|media|pdf|document|file)s?\b.{0,120}(?:exceed|too (?:large|small|many|big)|dimension|pixels|resolution|corrupt|decod|password|\bpages\b|\bmb\b|bytes|download)|at most [1-9]\d* images?|too many images/,
    refused: { what: 'files' },
    alone: true,
  },
  {
    words: /image: unknown format|appears to be an? image|maximum of \d+ (?:pdf )?pages/,
    refused: { what: 'files' },
    alone: true,
  },
  {
    words:
      /(?:could not|unable to|failed to) process (?:the |this |your |input |provided )*(?:image|pdf|document|file)\b(?! input)|(?:could not|unable to|cannot|failed to) (?:decode|open|read|load|identify|download|fetch).{0,60}(?:image|media|pdf|document|file)|(?:invalid|malformed|corrupt\w*|not a valid|empty) (?:base64 )?(?:image|pdf|document|file)(?: data| bytes)?\b|unsupported (?:image|media|file)\b(?! input)|valid image|following formats|unsupported mime type: image|image (?:media |mime )?(?:format|type).{0,40}(?:not|must|should)|media_type/,
    refused: { what: 'files' },
    alone: true,
  },

  // Fields that do not affect the answer.
  {
    words:
      /stream_options|include_usage|cache_control|thinking\S{0,20}[._]display|prompt_cache_key|parameter: \W?(?:store|include)\b|field \W?(?:truncate|shift|store)\b|body\W{1,4}(?:store|include|truncate|shift)\b/,
    refused: features('extras'),
  },

  // Streaming.
  {
    words: /(?<![_\w])stream(?:s|ing|ed)?\b/,
    also: /(?:not|n['’]t|un)[ -]?(?:yet )?(?:be )?(?:support|allow|accept|available|permitted|enabled|implement|used|work|do\b)|disabled|cannot use|(?:must|should) be (?:set to )?false|verified to stream|no streaming/,
    refused: features('stream'),
  },

  // Thinking that must come back: DeepSeek and Kimi.
  {
    words:
      /(?:must|should|needs? to) be (?:passed|sent|provided) back|reasoning_content\W{1,3}(?:is )?(?:missing|required)|(?:missing|requires?) \W?reasoning_content/,
    also: /reasoning|thinking/,
    refused: { what: 'thoughts' },
    alone: true,
  },

  // Opaque data that only its author can read.
  {
    words:
      /signature|encrypted[_ ]content|reasoning[_ ](?:content|details|item)|property 'reasoning'|redacted_thinking|`?thinking`? blocks?|of type 'reasoning'|item with id '?(?:rs|msg|fc)_/,
    refused: features('opaque'),
  },

  // The schema of the answer: the field, or this schema.
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

  // The thinking level, and whether summaries are shown: OpenAI shows them to verified organisations only.
  { words: /reasoning[._ ]summar/, refused: features('summaries') },
  {
    words:
      /(?:n[o'’]t|cannot) (?:support|accept|allow) (?:the )?(?:effort parameter|reasoning|thinking|parameter `?'?reasoning)(?! level)|(?:unrecogni[sz]ed|unknown|unsupported|extra|unexpected) (?:request )?(?:arguments?|parameters?|names?|fields?|inputs?).{0,80}(?:reasoning|effort|thinking|\bthink\b)|thinking(?:[_ ]level)? is not (?:supported|enabled)|(?:extra_forbidden|not permitted).{0,80}reasoning|reasoning.{0,80}(?:extra_forbidden|not permitted)|reasoning[_. ]effort[`'"]? (?:parameter )?is not (?:supported|available|allowed|permitted|recogni[sz]ed)/,
    refused: { what: 'thinking', levels: 'all' },
    alone: true,
  },
  // Ollama names only the level.
  {
    words:
      /reasoning|effort|thinking|\bthink\b|budget|unsupported value:? \W?(?:none|minimal|off|low|medium|high|xhigh|max)\b/,
    refused: { what: 'thinking', levels: 'this' },
  },

  // The answer limit, without a number that would be accepted.
  {
    words: /\bmax_(?:completion_|output_|new_)?tokens\b|maxoutputtokens|num_predict/,
    refused: features('output_limit'),
  },

  // Errors of chat templates, and of servers with the same checks.
  {
    words:
      /single tool.?calls?|(?:multiple|parallel|more than one) (?:tool|function)[ _-]?calls?|parallel_tool_calls|one tool.?call/,
    refused: features('parallel_calls'),
  },
  // A call without its result, or a result without its call.
  {
    words:
      /must be followed by tool messages|response to a prec\w+ message with \W?tool_calls|same number of function calls and responses|without \W?tool_(?:result|use)|function call turn comes|function response (?:parts|turn)/,
    refused: features('calls'),
    alone: true,
  },
  {
    words: /tool.?(?:call|use)?[ _.]?ids?\b|tool_calls?(?:\[\d+\]|\.\d+)\.id|tool_use\.id/,
    refused: features('call_ids'),
  },
  { words: /\balternat|must have role|message prefill/, refused: { what: 'roles' }, alone: true },
  {
    words:
      /(?:system|developer) (?:role|message|prompt|instruction)|role '?(?:system|developer)|support '(?:system|developer)'|systeminstruction|only user and assistant/,
    refused: features('system'),
  },
  {
    words:
      /(?:tool|function|ipython) role|role '?"?(?:tool|function)|(?:last|unexpected|invalid|unknown) role|user query|(?<!--)jinja|chat[ _]template|\btemplate: :\d|nil pointer evaluating/,
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
  { words: /[\x22\x27]file[\x22\x27]/, refused: features('documents') },
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
  {
    words: /\bcontent[.[]\d{1,6}\]?\.type|should be \W?text\b|should be a valid string/,
    refused: features('images', 'documents', 'audio'),
  },
];

/** Sentences that send one to the other of OpenAI's two APIs, whatever else they name. */
export const OTHER_API: readonly Sentence[] = [
  {
    words: /responses api (?:is |are )?(?:not|only|enabled only|unavailable)/,
    refused: features('responses'),
  },
  {
    words:
      /(?:use|only (?:be )?(?:supported|available) (?:in|with|through|via)|requires?) (?:the )?(?:`?\/?v1\/responses|responses api)/,
    refused: features('chat'),
  },
];

/** The features that OpenAI's `param` can name. */
export const PARAMS: readonly (readonly [RegExp, Refused])[] = [
  [/^stream$/, features('stream')],
  [/^parallel_tool_calls/, features('parallel_calls')],
  [/^tools?(?:_choice|\b)/, features('tools')],
  [/encrypted_content|signature/, features('opaque')],
  [/tool_calls?\[\d+\]\.id|tool_call_id/, features('call_ids')],
];
