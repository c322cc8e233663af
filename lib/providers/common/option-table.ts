import type { JsonObject } from '../../chat/json.js';

/** The `options` of the configuration for one vendor, each with its JSON Schema. The build adds it to the schema; the program does not load it. */
export type OptionTable<Name extends string> = { readonly [Option in Name]?: JsonObject };

export const NUMBER = { type: 'number' };
export const INTEGER = { type: 'integer' };
export const BOOLEAN = { type: 'boolean' };
export const TEXTS = { type: 'array', items: { type: 'string' } };
export const ZERO_TO_ONE = { type: 'number', minimum: 0, maximum: 1 };

export const oneOfWords = (...words: readonly string[]): JsonObject => ({ enum: words });

/** Fields and headers that go into each request as they are, for what no table knows. */
export const EXTRA_BODY = { extra_body: { type: 'object' } };
export const EXTRA = { ...EXTRA_BODY, extra_headers: { type: 'object', additionalProperties: { type: 'string' } } };

/** An object of the vendor's own form. */
export const OBJECT = { type: 'object' };
export const OBJECTS = { type: 'array', items: OBJECT };
