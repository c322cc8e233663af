import type { JsonObject } from '../chat/json.js';
import { ANTHROPIC_OPTIONS } from './anthropic/anthropic-options.js';
import { GEMINI_OPTIONS } from './gemini/gemini-options.js';
import { OLLAMA_OPTIONS } from './ollama/ollama-options.js';
import { OPENAI_OPTIONS } from './openai/openai-options.js';

/** The `options` of the configuration, by vendor. */
export const OPTION_TABLES: Readonly<Record<string, Readonly<Record<string, JsonObject>>>> = {
  openai: OPENAI_OPTIONS,
  anthropic: ANTHROPIC_OPTIONS,
  gemini: GEMINI_OPTIONS,
  ollama: OLLAMA_OPTIONS,
};
