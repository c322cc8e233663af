import type { Options, ChatRequest as VendorRequest } from 'ollama/browser';
import { COUNT } from '../../chat/json.js';
import { BOOLEAN, EXTRA_BODY, INTEGER, NUMBER, type OptionTable, TEXTS, ZERO_TO_ONE } from '../common/option-table.js';

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

export const OLLAMA_OPTIONS = { ...OWN, ...EXTRA_BODY };
