import { Ajv, type ValidateFunction } from 'ajv';
import type { ConfigFile } from '../../config/config.js';
import { SCHEMA } from './config-schema.js';

/** Checks a parsed `config.json`. The build puts ajv's standalone code in place of this file, so that ajv itself is not loaded. */
export const checkConfig: ValidateFunction<ConfigFile> = new Ajv({
  allErrors: true,
  verbose: true,
  strict: false,
  code: { source: true, esm: true },
}).compile<ConfigFile>(SCHEMA);
