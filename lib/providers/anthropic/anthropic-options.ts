import type { MessageCreateParams } from '@anthropic-ai/sdk/resources/messages';
import { COUNT, TEXT } from '../../chat/json.js';
import { EXTRA, INTEGER, OBJECT, type OptionTable, oneOfWords, TEXTS, ZERO_TO_ONE } from '../common/option-table.js';

/** The options of the Messages API; `max_output_tokens` is its `max_tokens`. */
const OWN = {
  max_output_tokens: COUNT,
  stop_sequences: TEXTS,
  service_tier: oneOfWords('auto', 'standard_only'),
  inference_geo: TEXT,
  metadata: OBJECT,
  container: TEXT,
  user_profile_id: TEXT,
  workspace_id: TEXT,
  speed: oneOfWords('standard', 'fast'),
} satisfies OptionTable<keyof MessageCreateParams | 'max_output_tokens'>;

/** Further options of models before Claude Opus 4.7, which the SDK no longer has. */
const EARLIER_MODELS = { temperature: ZERO_TO_ONE, top_p: ZERO_TO_ONE, top_k: INTEGER };

export const ANTHROPIC_OPTIONS = { ...OWN, ...EARLIER_MODELS, ...EXTRA };
