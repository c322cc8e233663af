import { HiError } from '../../errors.js';
import type { Target } from '../common/deps.js';

/** The estimate may be too high by a quarter. A request that exceeds the window by more is not sent. */
const CERTAINLY_TOO_LARGE = 1.25;

type Windows = Pick<Target, 'context_window' | 'model_window'>;

/** The window that the model has, in tokens. */
export function modelWindow({ context_window, model_window = context_window }: Windows): number {
  return model_window;
}

/** Whether a request with this estimate certainly does not fit. */
export function isTooLarge(tokens: number, target: Windows): boolean {
  return tokens > CERTAINLY_TOO_LARGE * modelWindow(target);
}

/** The error for a request that does not fit, by the estimate or by the server's answer. */
export function tooLarge(tokens: number, { model, ...target }: Windows & Pick<Target, 'model'>): HiError {
  const context_window = modelWindow(target);
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
