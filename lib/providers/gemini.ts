import type { GenerateContentConfig } from '@google/genai/web';
import { COUNT, TEXT } from '../chat/json.js';
import {
  BOOLEAN,
  EXTRA,
  INTEGER,
  NUMBER,
  OBJECT,
  OBJECTS,
  type OptionTable,
  type ProviderMember,
  TEXTS,
  ZERO_TO_ONE,
} from './common/provider.js';
import * as adapter from './gemini/gemini-adapter.js';

/** Gemini, through generateContentStream of the Gemini API. */
export const gemini: ProviderMember = {
  name: 'gemini',
  title: 'Gemini',
  defaultModel: 'gemini-flash-latest',
  ownNames: /^gemini-/,
  fastModel: 'gemini-flash-lite-latest',
  keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  baseVariable: 'GOOGLE_GEMINI_BASE_URL',
  ownHosts: ['generativelanguage.googleapis.com'],
  priceId: 'google',
  // https://ai.google.dev/gemini-api/docs/pricing: beyond what is free in a month, by search from Gemini 3 on, by
  // prompt before
  searchPrice: (model) => (/gemini-[12]\b/.test(model) ? 0.035 : 0.014),
  // https://ai.google.dev/gemini-api/docs/image-understanding: 20 MB for a request
  images: { bytes: 18 * 1024 * 1024, request: 18 * 1024 * 1024, used: 3072 },
  keyPage: 'https://aistudio.google.com/apikey',
  async create(settings) {
    return adapter.create(gemini, settings);
  },
  async listModels(settings, signal) {
    return await adapter.listModels(gemini, settings, signal);
  },
  async askFacts(settings, question, signal) {
    return await adapter.askFacts(gemini, settings, question, signal);
  },
  async optionTable() {
    return GEMINI_OPTIONS;
  },
};

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : '';

/** The options of generateContent, spelled with underscores as in its documentation. */
const OWN = {
  temperature: { type: 'number', minimum: 0, maximum: 2 },
  top_p: ZERO_TO_ONE,
  top_k: INTEGER,
  max_output_tokens: COUNT,
  stop_sequences: TEXTS,
  presence_penalty: NUMBER,
  frequency_penalty: NUMBER,
  seed: INTEGER,
  service_tier: TEXT,
  safety_settings: OBJECTS,
  media_resolution: TEXT,
  cached_content: TEXT,
  labels: { type: 'object', additionalProperties: { type: 'string' } },
  response_modalities: TEXTS,
  image_config: OBJECT,
  store: BOOLEAN,
} satisfies OptionTable<Snake<keyof GenerateContentConfig>>;

const GEMINI_OPTIONS = { ...OWN, ...EXTRA };
