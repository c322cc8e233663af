import { Ajv, type ValidateFunction } from 'ajv';
import type { ConfigFile } from '../../config/config.js';
import { SCHEMA } from './config-schema.js';

/**
 * Checks a parsed `config.json` and lists every mistake. The build replaces this file with ajv's standalone code, so
 * that ajv itself is not loaded.
 */
export const checkConfig: ValidateFunction<ConfigFile> = new Ajv({
  allErrors: true,
  verbose: true,
  strict: false,
  code: { source: true, esm: true },
}).compile<ConfigFile>(SCHEMA);
