import type { JsonObject } from '../chat/json.js';
import { TEXT } from '../chat/json-ranges.js';

// What several keys allow, as JSON Schema.

export const SHARE = { type: 'number', exclusiveMinimum: 0, maximum: 1 };

/** A list of rules: each is its text, or an object with the text and more. */
export const rules = (more: JsonObject) => ({
  type: 'array',
  items: {
    type: ['string', 'object'],
    minLength: 1,
    properties: { rule: TEXT, folder: TEXT, ...more },
    required: ['rule'],
    additionalProperties: false,
  },
});

/** What the list `allow` can say of a rule. */
export const GRANTS = { write: { type: 'boolean' }, network: { type: 'boolean' } };

/** A rule as it is written. */
export type RuleSetting =
  | string
  | { readonly rule: string; readonly folder?: string; readonly write?: boolean; readonly network?: boolean };
