import { StreamError } from '../../../http/failures.js';

/** Finish reasons for an answer that was cut off: those of DeepSeek, Zhipu, SGLang and vLLM, and Google's, which gateways pass on. */
const BROKEN =
  /^(?:errors?|abort(?:ed)?|cancel+ed|interrupted|failed|insufficient_system_resource|(?:network|server|internal|engine|api)_error|time_?out|timed_out|malformed_(?:function|tool)_call|unexpected_tool_call)$/i;

/** Finish reasons for the length limit: OpenAI's, Mistral's, and those that gateways pass on from other vendors. */
const LENGTH =
  /^(?:model_)?length$|^max_(?:output_|completion_)?(?:tokens|length)$|context_(?:window|length)|^truncated$/i;

/** Finish reasons for refused content: those of OpenAI, Zhipu, Bedrock and Google. */
const REFUSED = /content_?filter|sensitive|safety|prohibited|blocklist|moderation|guardrail|recitation|^refus|^spii$/i;

/** Whether a finish reason means that the answer is incomplete. */
export const isBrokenOff = (word: string): boolean => BROKEN.test(word);

/** The stop reason for a finish reason in any vendor's words. Throws an error for an answer that was cut off. */
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
