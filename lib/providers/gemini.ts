import type { ProviderMember } from './common/provider.js';
import * as adapter from './gemini/gemini-adapter.js';
import { GEMINI_OPTIONS } from './gemini/gemini-options.js';

/** Gemini, through generateContentStream of the Gemini API. */
export const gemini: ProviderMember = {
  name: 'gemini',
  title: 'Gemini',
  defaultModel: 'gemini-flash-latest',
  fastModel: 'gemini-flash-lite-latest',
  keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  baseVariable: 'GOOGLE_GEMINI_BASE_URL',
  ownHosts: ['generativelanguage.googleapis.com'],
  priceId: 'google',
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
