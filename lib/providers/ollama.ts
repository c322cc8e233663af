import type { Options, ChatRequest as VendorRequest } from 'ollama/browser';
import { COUNT } from '../chat/json.js';
import { milliseconds } from '../chat/text.js';
import {
  BOOLEAN,
  EXTRA,
  INTEGER,
  NUMBER,
  type OptionTable,
  type ProviderMember,
  TEXTS,
  ZERO_TO_ONE,
} from './common/provider.js';
import * as adapter from './ollama/ollama-adapter.js';

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
  cacheTerms: (_model, options) => [{ life: keepAlive(options), write: 1 }],
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
    yield* adapter.pull(ollama, settings, model, signal);
  },
  async optionTable() {
    return OLLAMA_OPTIONS;
  },
};

/**
 * How long a model stays loaded: a duration in Go's form, or in seconds; negative for ever. 5 minutes by default,
 * https://docs.ollama.com/faq
 */
function keepAlive({ keep_alive = '5m' }: Readonly<Record<string, unknown>>): number {
  const text = String(keep_alive);
  if (text.startsWith('-')) return Number.POSITIVE_INFINITY;
  return Number.isNaN(Number(text)) ? (milliseconds(text) ?? 0) : Number(text) * 1000;
}

/** The options of /api/chat; `max_output_tokens` is its `num_predict`, and `context_window` its `num_ctx`. */
const OWN = {
  max_output_tokens: COUNT,
  temperature: { type: 'number', minimum: 0 },
  top_p: ZERO_TO_ONE,
  top_k: INTEGER,
  min_p: ZERO_TO_ONE,
  seed: INTEGER,
  stop: TEXTS,
  repeat_penalty: NUMBER,
  repeat_last_n: INTEGER,
  presence_penalty: NUMBER,
  frequency_penalty: NUMBER,
  typical_p: NUMBER,
  mirostat: INTEGER,
  mirostat_tau: NUMBER,
  mirostat_eta: NUMBER,
  num_batch: INTEGER,
  num_gpu: INTEGER,
  main_gpu: INTEGER,
  num_thread: INTEGER,
  num_keep: INTEGER,
  use_mmap: BOOLEAN,
  keep_alive: { type: ['string', 'number'] },
} satisfies OptionTable<keyof Options | keyof VendorRequest | 'max_output_tokens'>;

const OLLAMA_OPTIONS = { ...OWN, ...EXTRA };
