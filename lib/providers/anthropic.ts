import type { MessageCreateParams as BetaMessageCreateParams } from '@anthropic-ai/sdk/resources/beta/messages';
import type { MessageCreateParams } from '@anthropic-ai/sdk/resources/messages';
import { COUNT, TEXT } from '../chat/json.js';
import * as adapter from './anthropic/anthropic-adapter.js';
import {
  EXTRA,
  INTEGER,
  OBJECT,
  type OptionTable,
  oneOfWords,
  type ProviderMember,
  TEXTS,
  ZERO_TO_ONE,
} from './common/provider.js';

const MINUTE = 60_000;

/** Claude, through the Messages API. */
export const anthropic: ProviderMember = {
  name: 'anthropic',
  title: 'Anthropic',
  defaultModel: 'claude-sonnet-5-5',
  ownNames: /^claude-/,
  fastModel: 'claude-haiku-5-5',
  keyVariables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
  baseVariable: 'ANTHROPIC_BASE_URL',
  ownHosts: ['api.anthropic.com'],
  // https://docs.claude.com/en/docs/build-with-claude/vision, and 32 MB for a request
  images: {
    bytes: 5 * 1024 * 1024,
    side: 8000,
    many: { count: 20, side: 2000 },
    request: 30 * 1024 * 1024,
    used: 1568,
  },
  // https://platform.claude.com/docs/en/build-with-claude/prompt-caching
  cacheTerms: () => [
    { life: 5 * MINUTE, write: 1.25 },
    { life: 0, write: 1 },
    { life: 60 * MINUTE, write: 2 },
  ],
  // https://platform.claude.com/docs/en/models/haiku-5-5/overview, …/fable-5/overview (Mythos 5 has its price),
  // …/about-claude/pricing and the migration guide of Sonnet 5.5
  prices: [
    { name: 'claude-fable-5-2', input: 8, cached: 0.2, output: 40 },
    { name: 'claude-mythos-5', input: 10, cached: 1, output: 50 },
    { name: 'claude-haiku-5-5', input: 0.1, cached: 0.01, output: 0.5, step: { above: 100_000, input: 5, output: 5 } },
    { name: 'claude-sonnet-5-5', input: 2, cached: 0.1, output: 10 },
  ],
  keyPage: 'https://console.anthropic.com/settings/keys',
  async create(settings) {
    return adapter.create(anthropic, settings);
  },
  async listModels(settings, signal) {
    return await adapter.listModels(anthropic, settings, signal);
  },
  async askFacts(settings, question, signal) {
    return await adapter.askFacts(anthropic, settings, question, signal);
  },
  async optionTable() {
    return ANTHROPIC_OPTIONS;
  },
};

/** The options of the Messages API; `max_output_tokens` is its `max_tokens`. */
const OWN = {
  max_output_tokens: COUNT,
  stop_sequences: TEXTS,
  service_tier: oneOfWords('auto', 'standard_only'),
  inference_geo: TEXT,
  metadata: OBJECT,
  container: TEXT,
  user_profile_id: TEXT,
  workspace_id: TEXT,
  speed: oneOfWords('standard', 'fast'),
} satisfies OptionTable<keyof MessageCreateParams | 'max_output_tokens'>;

/** Those that need a header, `anthropic-beta` in `extra_headers`. */
const BETA = {
  context_management: OBJECT,
  compaction: OBJECT,
  fallbacks: { type: ['string', 'array'] },
} satisfies OptionTable<keyof BetaMessageCreateParams>;

/** Further options of models before Claude Opus 4.7, which the SDK no longer has. */
const EARLIER_MODELS = { temperature: ZERO_TO_ONE, top_p: ZERO_TO_ONE, top_k: INTEGER };

/** The place to search for: `country`, `region`, `city`, `timezone`. */
const SEARCH = { user_location: OBJECT };

const ANTHROPIC_OPTIONS = { ...OWN, ...BETA, ...SEARCH, ...EARLIER_MODELS, ...EXTRA };
