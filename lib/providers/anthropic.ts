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
