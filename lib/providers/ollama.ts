import type { ProviderMember } from './common/provider.js';

const DEFAULT_MODEL = 'llama3.2';

/** Ollama, on this machine or another, or its cloud. */
export const ollama: ProviderMember = {
  name: 'ollama',
  title: 'Ollama',
  defaultModel: DEFAULT_MODEL,
  fastModel: null,
  keyVariables: [],
  baseVariable: 'OLLAMA_HOST',
  ownHosts: [],
  port: 11434,
  mostAssumed: 32_768,
  keyPage: null,
  hints: {
    key: 'Sign in with: ollama signin.',
    model: (model) => `Fetch it with: ollama pull ${model}. Or choose one that is there with /model or -m.`,
    start: 'Start it there with: ollama serve. Or correct api_base.',
    firstModel: `Get one first, such as: ollama pull ${DEFAULT_MODEL}`,
  },
  async create(settings) {
    return (await import('./ollama/ollama-adapter.js')).create(ollama, settings);
  },
  async listModels(settings, signal) {
    return await (await import('./ollama/ollama-adapter.js')).listModels(ollama, settings, signal);
  },
  async askFacts(settings, question, signal) {
    return await (await import('./ollama/ollama-adapter.js')).askFacts(ollama, settings, question, signal);
  },
};
