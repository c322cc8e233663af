import { textOf, type Usage } from '../../chat/message.js';
import type { ModelMemory } from '../../chat/model/model-facts.js';
import type { TextModel } from '../../chat/text-model.js';
import type { Provider } from '../../providers/common/provider.js';
import type { PartialAnswer } from './partial-answer.js';
import { requestAnswer } from './request-answer.js';

/** The settings of a text model. The adapter is loaded with the first request. */
export interface TextModelSettings {
  readonly provider: string;
  readonly model: string;
  readonly api_base?: string;
  readonly context_window: number;
  readonly isNear?: boolean;
  ask?(signal: AbortSignal): Promise<void>;
  readonly memory: ModelMemory;
  connect(signal?: AbortSignal): Promise<Provider>;
  /** Called with the usage of each text. */
  readonly spent: (usage: Usage) => void;
}

/** A model that turns one prompt into one text, through the same adapters as the conversation. */
export function textModel(settings: TextModelSettings): TextModel {
  const { provider, model, api_base, isNear = false, memory, connect, spent } = settings;
  return {
    provider,
    model,
    ...(api_base !== undefined && { api_base }),
    isNear,
    get context_window() {
      return settings.context_window;
    },
    ask: async (signal) => settings.ask?.(signal),
    async write(prompt, onProgress, signal) {
      const answer: PartialAnswer = { parts: [], end: null };
      let characters = 0;
      const request = {
        model,
        system: [prompt.system],
        messages: [{ role: 'user', content: [{ type: 'text', text: prompt.user }] }],
        tools: [],
        thinking: null,
        context_window: settings.context_window,
        estimated_tokens: Math.ceil(
          ((prompt.system.length + prompt.user.length) / 4) * (memory.facts.token_ratio ?? 1),
        ),
        max_output_tokens: prompt.max_output_tokens,
        attachments: new Map(),
      } as const;
      for await (const event of requestAnswer(await connect(signal), request, answer, memory, signal)) {
        if (event.type !== 'text' && event.type !== 'thinking') continue;
        characters += event.text.length;
        onProgress(characters);
      }
      const usage = answer.end?.usage ?? null;
      if (usage !== null) spent(usage);
      return { text: textOf(answer.parts), stop_reason: answer.end?.stop_reason ?? 'end', usage };
    },
  };
}
