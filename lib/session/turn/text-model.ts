import { textOf } from '../../chat/message.js';
import type { TextModel } from '../../chat/request.js';
import type { Target } from '../common/deps.js';
import type { PartialAnswer } from './failed-request.js';
import { requestAnswer } from './request-answer.js';

/**
 * A model that turns one prompt into one text, through the same adapters as the conversation. The adapter is loaded
 * with the first prompt.
 */
export function textModel(target: Omit<Target, 'images' | 'options'>): TextModel {
  const { provider, model, api_base, server, isNear = false, memory, connect } = target;
  return {
    provider,
    model,
    ...(api_base !== undefined && { api_base }),
    ...(server !== undefined && { server }),
    isNear,
    get context_window() {
      return target.context_window;
    },
    ask: async (signal) => target.ask?.(signal),
    async write(prompt, onProgress, signal) {
      const answer: PartialAnswer = { parts: [], end: null };
      let characters = 0;
      const request = {
        model,
        system: [prompt.system],
        messages: [{ role: 'user', content: [{ type: 'text', text: prompt.user }] }],
        tools: [],
        thinking: null,
        isInternal: true,
        context_window: target.model_window ?? target.context_window,
        estimated_tokens: Math.ceil(
          ((prompt.system.length + prompt.user.length) / 4) * (memory.facts.token_ratio ?? 1),
        ),
        max_output_tokens: prompt.max_output_tokens,
        attachments: new Map(),
      } as const;
      const asked = { provider: await connect(signal), memory };
      for await (const event of requestAnswer(asked, request, answer, signal)) {
        if (event.type !== 'text' && event.type !== 'thinking') continue;
        characters += event.text.length;
        onProgress(characters);
      }
      const { stop_reason = 'end', usage = null } = answer.end ?? {};
      return { text: textOf(answer.parts), stop_reason, usage };
    },
  };
}
