import type { GenerateContentConfig } from '@google/genai/web';
import { COUNT, TEXT } from '../../chat/json.js';
import {
  BOOLEAN,
  EXTRA,
  INTEGER,
  NUMBER,
  OBJECT,
  OBJECTS,
  type OptionTable,
  TEXTS,
  ZERO_TO_ONE,
} from '../common/option-table.js';

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

export const GEMINI_OPTIONS = { ...OWN, ...EXTRA };
