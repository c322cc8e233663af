import { milliseconds } from '../chat/text.js';
import type { ProviderMember } from './common/provider.js';
import * as adapter from './ollama/ollama-adapter.js';
import { OLLAMA_OPTIONS } from './ollama/ollama-options.js';
import { pull as pullModel } from './ollama/ollama-pull-adapter.js';

const DEFAULT_MODEL = 'llama3.2';

/** Ollama, on this machine or another, or its cloud. */
export const ollama: ProviderMember = {
  name: 'ollama',
  title: 'Ollama',
  defaultModel: DEFAULT_MODEL,
  fastModel: null,
  keyVariables: [],
  hosted: { hosts: ['ollama.com'], keyVariable: 'OLLAMA_API_KEY' },
  baseVariable: 'OLLAMA_HOST',
  ownHosts: [],
  port: 11434,
  mostAssumed: 32_768,
  cacheLife: keepAlive,
  keyPage: null,
  downloads: [
    { name: DEFAULT_MODEL, bytes: 2_019_393_189, summary: 'chats and uses tools' },
    { name: 'qwen3:4b', bytes: 2_497_293_918, summary: 'thinks, and uses tools' },
    { name: 'llama3.2:1b', bytes: 1_321_098_329, summary: 'small and quick' },
  ],
  hints: {
    key: 'Sign in with: ollama signin. For ollama.com, set OLLAMA_API_KEY (https://ollama.com/settings/keys).',
    model: (model) => `Fetch it with: ollama pull ${model}. Or choose one that is there with /model or -m.`,
    start: 'Start it there with: ollama serve. Or correct api_base.',
    firstModel: `Get one first, such as: ollama pull ${DEFAULT_MODEL}`,
  },
  async create(settings) {
    return adapter.create(ollama, settings);
  },
  async listModels(settings, signal) {
    return await adapter.listModels(ollama, settings, signal);
  },
  async askFacts(settings, question, signal) {
    return await adapter.askFacts(ollama, settings, question, signal);
  },
  async *pull(settings, model, signal) {
    yield* pullModel(ollama, settings, model, signal);
  },
  async optionTable() {
    return OLLAMA_OPTIONS;
  },
};

/** How long a model stays loaded: a duration in Go's form, or in seconds; negative for ever. 5 minutes by default, https://docs.ollama.com/faq */
function keepAlive(_model: string, { keep_alive = '5m' }: Readonly<Record<string, unknown>>): number {
  const text = String(keep_alive);
  if (text.startsWith('-')) return Number.POSITIVE_INFINITY;
  return Number.isNaN(Number(text)) ? (milliseconds(text) ?? 0) : Number(text) * 1000;
}
