import { shortCount } from '../../chat/transcript.js';
import type { Target } from '../../session/common/deps.js';
import { dollarText, priceOf } from './price.js';

/** What something costs if the vendor has to read all of it, and if it has it in its cache. Null where that is unknown. */
export interface ColdAndWarm {
  readonly cold: number | null;
  readonly warm: number | null;
}

/** What a question costs before its answer. */
export interface QuestionCost {
  readonly tokens: number;
  /** US dollars at published prices. */
  readonly dollars: ColdAndWarm;
  /** The seconds until the answer begins. */
  readonly seconds: ColdAndWarm;
}

/**
 * How long the first word of an answer takes: 187,363 tokens in 6.9 s, according to Anthropic's cookbook on prompt caching; others are in that order. How fast a
 * server of the user's own reads is unknown.
 */
const LEAST_SECONDS = 0.6;
const READ_A_SECOND = 30_000;
const CACHED_A_SECOND = 150_000;

/** What a question of so many tokens costs. Loads the table of prices, so this module is imported on demand. */
export function questionCost(
  { provider, model, api_base, isNear }: PricedModel,
  tokens: number,
  at: Date,
): QuestionCost {
  const price = (cached_tokens: number): number | null => {
    // What was not in the cache is written into it.
    const billing = { cache_write_tokens: tokens - cached_tokens };
    const usage = { input_tokens: tokens, output_tokens: 0, context_tokens: tokens, cached_tokens, billing };
    return priceOf({ provider, model, api_base: api_base ?? null, at, usage });
  };
  const seconds = (speed: number): number | null =>
    isNear ? null : Number((LEAST_SECONDS + tokens / speed).toFixed(1));
  return {
    tokens,
    dollars: {
      cold: price(0),
      warm: price(tokens),
    },
    seconds: { cold: seconds(READ_A_SECOND), warm: seconds(CACHED_A_SECOND) },
  };
}

/** The price in dollars from which a question with everything is asked about. */
const DEAR = 0.25;

/** Whether to ask first. A price that is unknown may be high, but for a server of the user's own. */
export function isDear({ dollars: { cold } }: QuestionCost, { isNear }: PricedModel): boolean {
  return cold === null ? !isNear : cold > DEAR;
}

type PricedModel = Pick<Target, 'provider' | 'model' | 'api_base' | 'isNear'>;

/** `8.3k tokens, without the answer: $0.0213 and 0.9 s, $0.0009 and 0.7 s while the vendor has it cached`. */
export function costLine({ tokens, dollars, seconds }: QuestionCost): string {
  const size = `${shortCount(tokens)} tokens, without the answer`;
  const cold = [dollars.cold === null ? 'price unknown' : dollarText(dollars.cold), ...inSeconds(seconds.cold)];
  const warm = [...(dollars.warm === null ? [] : [dollarText(dollars.warm)]), ...inSeconds(seconds.warm)];
  return `${size}: ${cold.join(' and ')}${warm.length === 0 ? '' : `; ${warm.join(' and ')} while the vendor has it cached`}`;
}

const inSeconds = (seconds: number | null): readonly string[] => (seconds === null ? [] : [`${seconds} s`]);
