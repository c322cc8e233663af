import type { JsonObject } from '../chat/json.js';
import { jsonText } from '../chat/nesting.js';

/** An error inside a stream, which the SDK would treat as data or reduce to its message. */
export class StreamError extends Error {
  readonly error: JsonObject;

  constructor(error: JsonObject) {
    super(typeof error.message === 'string' ? error.message : jsonText(error));
    this.name = 'StreamError';
    this.error = error;
  }
}
