import type { VendorError } from './vendor-error.js';

/**
 * Messages for a prompt that exceeds the window. Only OpenAI has a code for it; the others are recognised by their text:
 * OpenAI, Anthropic, Google, Azure, Bedrock, GitHub, Groq, xAI, Mistral, Cohere, Cerebras, Together, DeepSeek, DeepInfra, Databricks, Moonshot, MiniMax,
 * Zhipu, Alibaba, OpenRouter, watsonx, Cloudflare, LiteLLM, vLLM, SGLang, TGI, TabbyAPI, llama.cpp, LM Studio, Ollama and Ollama Cloud.
 */
const SENTENCES: readonly RegExp[] = [
  /context[_ ]length[_ ]exceeded|string_above_max_length|model_context_window_exceeded|contextwindowexceeded|tokens_limit_reached/,
  /exceed(?:s|ed)? (?:[\w']+ ){0,3}context (?:window|length|size|limit)/,
  /context (?:window|length|size) (?:has been |was |is )?(?:exceeded|exceeds|full)|context overflow/,
  /context (?:length|size|window) (?:of|is)(?: only)? \d/,
  /maximum context length|max(?:imum)? model context|max context length/,
  /maximum (?:prompt|input) length (?:is|of) \d/,
  /(?:greater|longer) than (?:[\w']+ ){0,3}(?:context|model) (?:length|size)/,
  /(?:prompt|input|request) (?:length |body )?(?:is )?too (?:long|large)/,
  /too long (?:to fit into|for) (?:the |this )?(?:model|context)/,
  /reduce the length of the messages/,
  /(?:input|prompt) token count.*(?:exceeds|supports)/,
  /prompt (?:length )?exceeds|input length (?:\d+ )?exceeds/,
  /exceed(?:s|ed)? (?:the )?(?:model token limit|max message tokens|model's maximum number of tokens)/,
  /too many tokens|token limit exceeded/,
  /range of input length should be|prompt 超长/,
  /`inputs`.{0,40} must (?:be|have) (?:<=|less than)/,
  /too_many_prompt_tokens|total length of all messages is too long/,
  /max_seq_len|truncation length exceeded|total tokens limit/,
  /(?:input|prompt) tokens? exceed|tokens? exceeds (?:the )?max|prompt token count [^.]{0,30}cannot exceed/,
  /tokens (?:\d+ )?\+ `?max(?:_new_|_| )tokens`? (?:\d+ )?must be/,
  /输入长度超|长度超过/,
  /too (?:big|large|long) compared to (?:the )?kv|n_tokens(?:_all)? <= (?:\w+\.)?n_(?:u?batch|ctx)/,
];

/** Of words that nobody has collected: what is long, than what, and nothing of files or of the answer. */
const UNKNOWN_SENTENCE: readonly RegExp[] = [
  /\b(?:prompt|sequence|conversation)\b/,
  /\btoo (?:big|many)\b|\b(?:longer|larger|bigger|more|greater) than\b|\bexceed(?:s|ed)?\b/,
  /\b(?:maximum|limit|allowed|supported|positions|context|kv)\b/,
];
const OF_SOMETHING_ELSE =
  /image|picture|audio|video|\bfile|document|byte|pixel|max_|output|completion|\btools?\b|function|system prompt/;

/** Limits on time or money, not on the window; their messages mention tokens too. */
const LIMITS = /rate limit|quota|throttl|please wait|per (?:minute|min|hour|day)\b|daily|monthly/;

/** True if the message says that the request exceeds the window. Not for status 429. */
export function saysOverflow(words: string): boolean {
  const text = words.toLowerCase();
  if (LIMITS.test(text)) return false;
  if (SENTENCES.some((sentence) => sentence.test(text))) return true;
  return !OF_SOMETHING_ELSE.test(text) && UNKNOWN_SENTENCE.every((words) => words.test(text));
}

/**
 * True if the request itself exceeds a limit of tokens per minute, so that waiting does not help: OpenAI and Groq say "Request too large", or give the
 * limit and the requested number.
 */
export function neverFitsRate(words: string): boolean {
  const text = words.toLowerCase().replaceAll(/(?<=\d),(?=\d)/g, '');
  if (!/tokens?/.test(text)) return false;
  const [limit, requested] = [/\blimit:? (\d+)/, /\brequested:? (\d+)/].map((name) => name.exec(text)?.[1]);
  if (limit !== undefined && requested !== undefined) return Number(requested) > Number(limit);
  return /request too large/.test(text);
}

/** True if the request has too many bytes for a server or a proxy, and not too many tokens. */
export const isBodyTooLarge = ({ status, kinds, message }: VendorError): boolean =>
  status === 413 && !/token|context/i.test(`${kinds.join(' ')} ${message}`);
