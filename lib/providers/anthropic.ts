import type { ProviderMember } from './common/provider.js';

/** Claude, by the Messages API. */
export const anthropic: ProviderMember = {
  name: 'anthropic',
  title: 'Anthropic',
  defaultModel: 'claude-sonnet-5-5',
  fastModel: 'claude-haiku-5-5',
  keyVariables: ['ANTHROPIC_API_KEY'],
  baseVariable: 'ANTHROPIC_BASE_URL',
  ownHosts: ['api.anthropic.com'],
  keyPage: 'https://console.anthropic.com/settings/keys',
  async create(settings) {
    return (await import('./anthropic/anthropic-adapter.js')).create(anthropic, settings);
  },
  async listModels(settings, signal) {
    return await (await import('./anthropic/anthropic-adapter.js')).listModels(anthropic, settings, signal);
  },
  async askFacts(settings, question, signal) {
    return await (await import('./anthropic/anthropic-adapter.js')).askFacts(anthropic, settings, question, signal);
  },
};
