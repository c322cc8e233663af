import type { JsonObject } from '../../chat/json.js';

/** What `options` of the configuration may hold for one vendor, by name, each as JSON Schema. The program does not load it: the build makes it part of the schema. */
export type OptionTable<Name extends string> = { readonly [Option in Name]?: JsonObject };

export const NUMBER = { type: 'number' };
export const INTEGER = { type: 'integer' };
export const BOOLEAN = { type: 'boolean' };
export const TEXTS = { type: 'array', items: { type: 'string' } };
export const ZERO_TO_ONE = { type: 'number', minimum: 0, maximum: 1 };

export const oneOfWords = (...words: readonly string[]): JsonObject => ({ enum: words });
