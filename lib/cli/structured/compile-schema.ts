import ajv, { type ErrorObject, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import ajvFormats from 'ajv-formats';
import type { JsonObject, JsonValue } from '../../chat/json.js';
import { HiError } from '../../errors.js';

/** Returns the errors of a value; none if it fits. */
export type Check = (value: JsonValue) => readonly ErrorObject[];

type Draft = typeof ajv.Ajv | typeof Ajv2019 | typeof Ajv2020;

const OPTIONS: Options = { allErrors: true, strict: false, logger: false };

/** Compiles a check for a JSON Schema. Throws a `HiError` of code `usage` if it is not a valid one. */
export function compileSchema(schema: JsonObject): Check {
  const { $schema, ...rules } = schema;
  const drafts = draftsOf($schema);
  const failures: string[] = [];
  for (const Draft of drafts) {
    try {
      const compiler = new Draft(OPTIONS);
      ajvFormats.default(compiler);
      const validate = compiler.compile(rules);
      return (value) => (validate(value) ? [] : [...(validate.errors ?? [])]);
    } catch (thrown) {
      failures.push(thrown instanceof Error ? thrown.message : String(thrown));
    }
  }
  const reason = failures[0]?.replace(/^schema is invalid: data/, 'at ') ?? `'${String($schema)}' is not known`;
  throw new HiError('usage', `The schema is not a valid JSON Schema: ${reason}.`, {
    hint: 'hi supports JSON Schema 6, 7, 2019-09 and 2020-12; every $ref must lead to a place in the schema.',
  });
}

/** The drafts to try, in order: where none is named, the newest, then the one before the words for lists changed. */
function draftsOf($schema: JsonValue | undefined): readonly Draft[] {
  if ($schema === undefined) return [Ajv2020, ajv.Ajv];
  const named = String($schema);
  if (/draft-0[67]\b/.test(named)) return [ajv.Ajv];
  if (/2019-09/.test(named)) return [Ajv2019];
  return /2020-12/.test(named) ? [Ajv2020] : [];
}
