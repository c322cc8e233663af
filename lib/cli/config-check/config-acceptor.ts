import { Ajv, type ValidateFunction } from 'ajv';
import type { ConfigFile } from '../../config/config.js';
import { SCHEMA } from './config-schema.js';

/**
 * Whether a parsed `config.json` is valid. The build replaces this file with ajv's standalone code, so that ajv itself
 * is not loaded.
 */
export const acceptsConfig: ValidateFunction<ConfigFile> = new Ajv({ strict: false }).compile<ConfigFile>(SCHEMA);
