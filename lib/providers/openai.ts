import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions';
import type { ResponseCreateParams } from 'openai/resources/responses/responses';
import { COUNT, TEXT } from '../chat/json.js';
import type { CacheTerm, ModelFacts, Vendor } from '../chat/model.js';
import type { ListedModel } from './common/known-models.js';
import {
  BOOLEAN,
  EXTRA,
  INTEGER,
  type ModelQuestion,
  NUMBER,
  OBJECT,
  OBJECTS,
  type OptionTable,
  oneOfWords,
  type Provider,
  type ProviderMember,
  type ProviderSettings,
  TEXTS,
  ZERO_TO_ONE,
} from './common/provider.js';
import * as adapter from './openai/openai-adapter.js';

const ADDRESS = 'https://api.openai.com/v1';

/** What a longer prompt makes of the prices of a request. */
const LONG_PROMPT = { above: 272_000, input: 2, output: 1.5 };

/** OpenAI itself through its Responses API, and every server with the Chat Completions API. */
export const openai: ProviderMember = {
  name: 'openai',
  title: 'OpenAI',
  defaultModel: 'gpt-6.1-sol',
  ownNames: /^(?:gpt-(?!oss)|chatgpt-|o[1-9](?:-|$))/,
  fastModel: 'gpt-6-luna',
  keyVariables: ['OPENAI_API_KEY'],
  baseVariable: 'OPENAI_BASE_URL',
  ownHosts: ['api.openai.com'],
  // https://platform.openai.com/docs/guides/images-vision: 50 MB for a request
  images: { bytes: 20 * 1024 * 1024, request: 45 * 1024 * 1024, used: 2048 },
  cacheTerms: (model, _options, isOwn) => (isOwn ? termsOf(model) : []),
  // https://developers.openai.com/api/docs/models
  prices: [
    { name: 'gpt-6.1-sol', input: 2, cached: 0.1, output: 10, step: LONG_PROMPT },
    { name: 'gpt-6.1-terra', input: 1, cached: 0.05, output: 5, step: LONG_PROMPT },
  ],
  keyPage: 'https://platform.openai.com/api-keys',
  hints: { path: 'Nothing answers at this path: check api_base (it usually ends in /v1).' },
  elsewhere: 'OpenAI-compatible server (llama.cpp, vLLM)',
  create: (settings) => createCompatible(openai, ADDRESS, settings),
  listModels: (settings, signal) => listCompatible(openai, ADDRESS, settings, signal),
  askFacts: (settings, question, signal) => askCompatible(openai, ADDRESS, settings, question, signal),
  async optionTable() {
    return OPENAI_OPTIONS;
  },
};

const MINUTE = 60_000;

const LONG_TERM = 12 * 60 * MINUTE;

/**
 * https://developers.openai.com/api/docs/guides/prompt-caching: at least 30 minutes from GPT-5.6 on, 5 to 10 before,
 * when writing cost nothing. The guide has one price of writing, whichever `ttl` is asked for.
 */
function termsOf(model: string): readonly CacheTerm[] {
  const [, name = '', version = ''] = /(?:^|[/:])(gpt-|chatgpt-|o)(\d+(?:\.\d+)?)/.exec(model) ?? [];
  if (name !== '' && (name !== 'gpt-' || Number(version) < 5.6)) return [{ life: 10 * MINUTE, write: 1 }];
  return [
    { life: 30 * MINUTE, write: 1.25 },
    { life: 0, write: 1 },
    { life: LONG_TERM, write: 1.25 },
  ];
}

/** The adapter for a vendor with OpenAI's protocol at `address`. */
async function createCompatible(vendor: Vendor, address: string, settings: ProviderSettings): Promise<Provider> {
  return adapter.create(vendor, address, settings);
}

/** The models of such a vendor, newest first. */
async function listCompatible(
  vendor: Vendor,
  address: string,
  settings: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  return await adapter.listModels(vendor, address, settings, signal);
}

/** The facts that such a vendor reports about one model. */
async function askCompatible(
  vendor: Vendor,
  address: string,
  settings: ProviderSettings,
  question: ModelQuestion,
  signal: AbortSignal,
): Promise<ModelFacts> {
  return await adapter.askFacts(vendor, address, settings, question, signal);
}

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

/**
 * What OpenAI's newer models take, the routing of OpenRouter, and the switches of DeepSeek's and of vLLM's and SGLang's
 * models.
 */
const GATEWAYS = {
  max_tool_calls: COUNT,
  reasoning: OBJECT,
  provider: OBJECT,
  models: TEXTS,
  thinking: OBJECT,
  chat_template_kwargs: OBJECT,
};

/** The place to search for: `country`, `region`, `city`, `timezone`. */
const SEARCH = { user_location: OBJECT };

const OPENAI_OPTIONS = { ...OWN, ...SEARCH, ...COMPATIBLE_SERVERS, ...GATEWAYS, ...EXTRA };
