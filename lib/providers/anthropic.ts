import * as adapter from './anthropic/anthropic-adapter.js';
import { ANTHROPIC_OPTIONS } from './anthropic/anthropic-options.js';
import type { ProviderMember } from './common/provider.js';

/** Claude, through the Messages API. */
export const anthropic: ProviderMember = {
  name: 'anthropic',
  title: 'Anthropic',
  defaultModel: 'claude-sonnet-5-5',
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
  // https://platform.claude.com/docs/en/models/haiku-5-5/overview and the migration guide of Sonnet 5.5
  prices: [
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
