/** JSON Schemas for values that several settings share. */
export const TEXT = { type: 'string', minLength: 1 };
export const COUNT = { type: 'integer', minimum: 1 };
