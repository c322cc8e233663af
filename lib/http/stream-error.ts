import type { JsonObject } from '../chat/json.js';
import { jsonText } from '../chat/nesting.js';

/** An error that came as part of a stream, where the SDK takes it for data or keeps only its words. */
export class StreamError extends Error {
  readonly error: JsonObject;

  constructor(error: JsonObject) {
    super(typeof error.message === 'string' ? error.message : jsonText(error));
    this.name = 'StreamError';
    this.error = error;
  }
}
