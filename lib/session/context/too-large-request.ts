import { HiError } from '../../errors.js';
import type { Target } from '../common/deps.js';

/** The estimate may be too high by a quarter. What is larger than that cannot fit and is not sent. */
const CERTAINLY_TOO_LARGE = 1.25;

/** Whether a request of so many tokens by the estimate cannot fit. */
export function isTooLarge(tokens: number, { context_window }: Pick<Target, 'context_window'>): boolean {
  return tokens > CERTAINLY_TOO_LARGE * context_window;
}

/** Says that a request does not fit: by the estimate, or by the server against it. */
export function tooLarge(tokens: number, { context_window, model }: Pick<Target, 'context_window' | 'model'>): HiError {
  return new HiError(
    'window',
    tokens > context_window
      ? `The request has about ${tokens} tokens, but the window of ${model} holds ${context_window}.`
      : `The server rejected the request as too large for ${model}, though it has only about ${tokens} tokens.`,
    {
      hint: 'Shorten the message or its attachments, choose a model with a larger window, or correct context_window.',
    },
  );
}
