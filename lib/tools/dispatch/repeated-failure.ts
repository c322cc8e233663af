import { isJsonObject, type JsonValue } from '../../chat/json.js';
import type { ToolCallPart } from '../../chat/message.js';

/** The model is warned after this many failures in a row. */
const TIMES = 3;

type Outcome = { readonly result?: JsonValue; readonly error?: string };

/** Detects a call that fails repeatedly. */
export class FailureWatch {
  #last = '';
  #times = 0;

  /** A sentence for the model from the third failure of the same call in a row; null otherwise. */
  note(call: ToolCallPart, outcome: Outcome): string | null {
    if (!isFailure(outcome)) {
      this.forget();
      return null;
    }
    const key = JSON.stringify([call.name, call.args, call.invalid_args]);
    this.#times = key === this.#last ? this.#times + 1 : 1;
    this.#last = key;
    if (this.#times < TIMES) return null;
    return `The same call has now failed ${this.#times} times in a row. Do not repeat it unchanged: try something else, or tell the user what the problem is.`;
  }

  forget(): void {
    this.#last = '';
    this.#times = 0;
  }
}

function isFailure({ error, result }: Outcome): boolean {
  if (error !== undefined) return true;
  return isJsonObject(result) && typeof result.exit_code === 'number' && result.exit_code !== 0;
}
