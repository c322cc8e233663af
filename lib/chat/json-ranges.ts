/** What settings of several kinds allow, as JSON Schema. */
export const TEXT = { type: 'string', minLength: 1 };
export const COUNT = { type: 'integer', minimum: 1 };
