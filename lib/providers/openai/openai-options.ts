import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions';
import type { ResponseCreateParams } from 'openai/resources/responses/responses';
import { COUNT, TEXT } from '../../chat/json.js';
import {
  BOOLEAN,
  EXTRA,
  INTEGER,
  NUMBER,
  OBJECT,
  OBJECTS,
  type OptionTable,
  oneOfWords,
  TEXTS,
  ZERO_TO_ONE,
} from '../common/option-table.js';

const PENALTY = { type: 'number', minimum: -2, maximum: 2 };

/** The options of OpenAI's two APIs. */
const OWN = {
  temperature: { type: 'number', minimum: 0, maximum: 2 },
  top_p: ZERO_TO_ONE,
  max_output_tokens: COUNT,
  frequency_penalty: PENALTY,
  presence_penalty: PENALTY,
  seed: INTEGER,
  stop: { type: ['string', 'array'], items: { type: 'string' } },
  service_tier: oneOfWords('auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast'),
  verbosity: oneOfWords('low', 'medium', 'high'),
  parallel_tool_calls: BOOLEAN,
  prompt_cache_retention: oneOfWords('in_memory', '24h'),
  prompt_cache_options: OBJECT,
  logit_bias: OBJECT,
  moderation: OBJECT,
  context_management: OBJECTS,
  safety_identifier: TEXT,
  user: TEXT,
  truncation: oneOfWords('auto', 'disabled'),
  metadata: { type: 'object', additionalProperties: { type: 'string' } },
  store: BOOLEAN,
} satisfies OptionTable<keyof ChatCompletionCreateParams | keyof ResponseCreateParams>;

/** Further options of llama.cpp, vLLM and most other compatible servers. */
const COMPATIBLE_SERVERS = {
  top_k: INTEGER,
  min_p: ZERO_TO_ONE,
  repeat_penalty: NUMBER,
  repetition_penalty: NUMBER,
  stop_token_ids: { type: 'array', items: INTEGER },
  transforms: TEXTS,
};

/** What OpenAI's newer models take, the routing of OpenRouter, and the switches of DeepSeek's and of vLLM's and SGLang's models. */
const GATEWAYS = {
  max_tool_calls: COUNT,
  provider: OBJECT,
  models: TEXTS,
  thinking: OBJECT,
  chat_template_kwargs: OBJECT,
};

export const OPENAI_OPTIONS = { ...OWN, ...COMPATIBLE_SERVERS, ...GATEWAYS, ...EXTRA };
