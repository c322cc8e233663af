import type { ProviderMember } from './common/provider.js';

/** Ollama, on this machine or another, or its cloud. */
export const ollama: ProviderMember = {
  name: 'ollama',
  title: 'Ollama',
  defaultModel: 'llama3.2',
  fastModel: null,
  keyVariables: [],
  baseVariable: 'OLLAMA_HOST',
  ownHosts: [],
  port: 11434,
  keyPage: null,
  async create(settings) {
    return (await import('./ollama/ollama-adapter.js')).create(ollama, settings);
  },
  async listModels(settings, signal) {
    return await (await import('./ollama/ollama-adapter.js')).listModels(ollama, settings, signal);
  },
  async realWindow(settings, model, signal) {
    return await (await import('./ollama/ollama-adapter.js')).realWindow(ollama, settings, model, signal);
  },
};
