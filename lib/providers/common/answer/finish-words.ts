import { StreamError } from '../../../http/stream-error.js';

/** Words of servers and gateways for an answer that was broken off: DeepSeek, Zhipu, SGLang, vLLM, and those that pass on Google's. */
const BROKEN =
  /^(?:errors?|abort(?:ed)?|cancel+ed|interrupted|failed|insufficient_system_resource|(?:network|server|internal|engine|api)_error|time_?out|timed_out|malformed_(?:function|tool)_call|unexpected_tool_call)$/i;

/** Words for the length limit: OpenAI's, Mistral's, and those of gateways that pass on another vendor's. */
const LENGTH =
  /^(?:model_)?length$|^max_(?:output_|completion_)?(?:tokens|length)$|context_(?:window|length)|^truncated$/i;

/** Words for content that is not allowed: those of OpenAI, Zhipu, Bedrock and Google. */
const REFUSED = /content_?filter|sensitive|safety|prohibited|blocklist|moderation|guardrail|recitation|^refus|^spii$/i;

/** Whether a word says that the answer is not whole. */
export const isBrokenOff = (word: string): boolean => BROKEN.test(word);

/** Why an answer ended, by a word that is not the vendor's own for a good end. Throws the error of an answer that was broken off. */
export function readFinishWord(word: string): 'end' | 'length' | 'refusal' {
  if (isBrokenOff(word)) {
    const message = /^errors?$/i.test(word)
      ? 'The model stopped with an error.'
      : `The model stopped before the end of its answer (${word}).`;
    throw new StreamError({ message });
  }
  if (LENGTH.test(word)) return 'length';
  return REFUSED.test(word) ? 'refusal' : 'end';
}
