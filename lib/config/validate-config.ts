import type { ErrorObject, ValidateFunction } from 'ajv';
import { isJsonObject } from '../chat/json.js';
import { HiError } from '../errors.js';
import { nearest } from '../registry.js';
import type { ConfigFile } from './config.js';

/**
 * Checks a parsed `config.json`. Throws a `HiError` that lists all mistakes, each with its JSON path, the offending
 * value and a fix. `check` is ajv's, compiled with `allErrors` and `verbose`.
 */
export function validateConfig(value: unknown, check: ValidateFunction<ConfigFile>, file: string): ConfigFile {
  if (check(value)) return value;
  // ajv reports 'if' and what is wrong with a property name a second time.
  const found = (check.errors ?? []).filter(
    ({ keyword, propertyName }) => keyword !== 'if' && propertyName === undefined,
  );
  const mistakes = [...new Set(found.map(describe))];
  const count = mistakes.length === 1 ? 'an error' : `${mistakes.length} errors`;
  throw new HiError('config', `'${file}' has ${count}:\n${mistakes.join('\n')}`, {
    hint: "Fix the file, then run 'hi config check'. 'hi config schema' prints the allowed keys and values.",
  });
}

function describe(error: ErrorObject): string {
  const path = `$${error.instancePath.replaceAll('/', '.')}`;
  const value = shown(error.data, path);
  switch (error.keyword) {
    case 'additionalProperties':
      return unknownKey(error, path);
    case 'enum': {
      const allowed: readonly unknown[] = error.params.allowedValues;
      const near = typeof error.data === 'string' ? nearest(error.data, allowed.filter(isText)) : null;
      const list = allowed.map((one) => JSON.stringify(one)).join(', ');
      return `  ${path}: ${value} is not one of ${list}${near === null ? '' : `; did you mean "${near}"?`}`;
    }
    case 'type':
      return `  ${path}: ${value} is not ${[error.params.type].flat().map(article).join(' or ')}`;
    case 'required':
      return `  ${path}: '${error.params.missingProperty}' is missing; add it`;
    case 'pattern':
      if (path.includes('.headers'))
        return `  ${path}: the value is not valid for a header; it must be one line of ASCII`;
      return `  ${path}: ${value} is not an address; it must begin with http:// or https://`;
    case 'minLength':
      return `  ${path}: the value is empty; set it, or remove the key`;
    case 'propertyNames':
      return `  ${path}: '${String(error.params.propertyName)}' is not a valid name for ${validName(path)}`;
    default:
      return `  ${path}: ${value} ${error.message ?? 'is not allowed'}`;
  }
}

function validName(path: string): string {
  if (path.endsWith('headers')) return 'a header';
  return `a server; it must have 1 to 64 ${path === '$.servers' ? 'letters, digits, dots, dashes or underscores' : 'characters'}`;
}

function unknownKey(error: ErrorObject, path: string): string {
  const key = String(error.params.additionalProperty);
  const properties: unknown = error.parentSchema?.properties;
  const known = (isJsonObject(properties) ? Object.keys(properties) : []).filter((name) => name !== '$schema');
  const near = nearest(key, known);
  const fix = near === null ? `known keys: ${known.join(', ')}` : `did you mean '${near}'?`;
  return `  ${path}.${key}: unknown key '${key}'; ${fix}`;
}

const isText = (value: unknown): value is string => typeof value === 'string';

function shown(value: unknown, path: string): string {
  if (path.endsWith('api_key') || path.includes('.headers.')) return 'the value';
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 77)}…` : text;
}

function article(type: string): string {
  if (type === 'null') return 'null';
  return /^[aeio]/.test(type) ? `an ${type}` : `a ${type}`;
}
