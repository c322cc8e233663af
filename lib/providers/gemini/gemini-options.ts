import type { GenerateContentConfig } from '@google/genai/web';
import { COUNT, TEXT } from '../../chat/json-ranges.js';
import { INTEGER, NUMBER, type OptionTable, TEXTS, ZERO_TO_ONE } from '../common/option-table.js';

type Snake<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Snake<Rest>}`
  : '';

/** The options of generateContent, spelled with underscores as in its documentation. */
export const GEMINI_OPTIONS = {
  temperature: { type: 'number', minimum: 0, maximum: 2 },
  top_p: ZERO_TO_ONE,
  top_k: INTEGER,
  max_output_tokens: COUNT,
  stop_sequences: TEXTS,
  presence_penalty: NUMBER,
  frequency_penalty: NUMBER,
  seed: INTEGER,
  service_tier: TEXT,
} satisfies OptionTable<Snake<keyof GenerateContentConfig>>;
