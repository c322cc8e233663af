/**
 * How the services say that a prompt is longer than the window. Only OpenAI has a code for it, the others must be known by their words:
 * OpenAI, Anthropic, Google, DeepSeek and OpenRouter and vLLM, llama.cpp, Ollama, Ollama Cloud, Groq, xAI, Mistral, Cohere-like gateways.
 */
const SENTENCES: readonly RegExp[] = [
  /context_length_exceeded|string_above_max_length|model_context_window_exceeded/,
  /exceeds? (?:the|this model's|its) (?:available )?(?:maximum )?context (?:window|length|size)/,
  /prompt is too long|input is too long/,
  /input length and `?max_tokens`? exceed context limit/,
  /input token count.*exceeds the maximum/,
  /maximum context length|max(?:imum)? model context|max context length/,
  /maximum (?:prompt|input) length is \d+/,
  /reduce the length of the messages/,
  /(?:prompt|input|request) (?:length )?(?:is )?too (?:long|large)/,
  /greater than the context (?:length|size)/,
  /too many tokens in (?:the )?(?:prompt|request|messages)/,
];

/** True when the words say that the request does not fit the window. A rate limit speaks of tokens too: never ask it of a 429. */
export function saysOverflow(words: string): boolean {
  const text = words.toLowerCase();
  return SENTENCES.some((sentence) => sentence.test(text));
}
