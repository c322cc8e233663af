import { type JsonObject, TEXT } from '../chat/json.js';

// JSON Schemas that several keys share.

export const SHARE = { type: 'number', exclusiveMinimum: 0, maximum: 1 };

/** A list of rules. Each is a string, or an object with that string and further fields. */
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

/** The further fields of a rule in `allow`. */
export const GRANTS = {
  write: { type: 'boolean' },
  network: { type: 'boolean' },
  read: { type: 'array', items: TEXT },
};

/** A rule as written in `config.json`. */
export type RuleSetting =
  | string
  | {
      readonly rule: string;
      readonly folder?: string;
      readonly write?: boolean;
      readonly network?: boolean;
      readonly read?: readonly string[];
    };
