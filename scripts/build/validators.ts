import { Ajv, type Options, type Schema } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import type { Plugin } from 'esbuild';
import { isJsonObject, type JsonObject } from '../../lib/chat/json.js';
import { SCHEMA } from '../../lib/cli/config-check/config-schema.js';
import { tools } from '../../lib/tools/index.js';
import { replaced } from './replaced.js';

/** Replaces the modules that compile schemas with ajv's generated code, so that ajv itself is not in the bundle. */
export const validators: Plugin = replaced('validators', {
  'lib/cli/config-check/config-acceptor.ts': () =>
    withoutErrors(
      standaloneModule({ acceptsConfig: withoutWords(withoutOptions(SCHEMA)) }, { messages: false, strict: false }),
    ),
  'lib/cli/config-check/config-validator.ts': () =>
    standaloneModule({ checkConfig: SCHEMA }, { allErrors: true, verbose: true, strict: false }),
  'lib/tools/dispatch/compile.ts': toolChecks,
});

/**
 * The schema without the long rules for `options`, which few files have. Files with non-empty `options` are left to the
 * validator.
 */
function withoutOptions({ allOf: _rules, ...schema }: JsonObject): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return { ...schema, properties: { ...properties, options: { type: 'object', maxProperties: 0 } } };
}

/**
 * The schema without its descriptions: ajv includes the schema in its code, and every start reads that of the acceptor.
 * No key of `config.json` is called `description`.
 */
function withoutWords(schema: object): object {
  return JSON.parse(JSON.stringify(schema, (key, value: unknown) => (key === 'description' ? undefined : value)));
}

/** An error in ajv's generated code. One with a brace inside does not match and stays. */
const ERROR = /\{instancePath:(?:[^{}"]|"(?:[^"\\]|\\.)*")*params:\{[^{}]*\}(?:,propertyName:\w+)?\}/g;

/**
 * Reduces a check to yes or no: the unused errors, which are half of the code, become numbers. Throws when ajv's code
 * has another form.
 */
function withoutErrors(code: string): string {
  const less = code.replace(ERROR, '0');
  if (less === code) throw new Error("ajv's errors have another form: 'withoutErrors' found nothing to remove.");
  return less;
}

/** A module that exports a check for each name. */
function standaloneModule(schemas: Readonly<Record<string, object>>, options: Options): string {
  const named = Object.entries(schemas).map(([$id, schema]): Schema => ({ ...schema, $id }));
  const ajv = new Ajv({ ...options, schemas: named, code: { source: true, esm: true, lines: false } });
  return standalone.default(ajv, Object.fromEntries(Object.keys(schemas).map((name) => [name, name])));
}

function toolChecks(): string {
  const schemas = Object.fromEntries(tools.map(({ name, parameters }) => [name, parameters]));
  return `${standaloneModule(schemas, { allErrors: true })}
const checks = { ${Object.keys(schemas).join(', ')} };
export const compile = async (tool) => checks[tool.name];`;
}
