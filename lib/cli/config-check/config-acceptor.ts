import { Ajv, type ValidateFunction } from 'ajv';
import type { ConfigFile } from '../../config/config.js';
import { SCHEMA } from './config-schema.js';

/** Whether a parsed `config.json` is right. The build puts ajv's standalone code in place of this file, so that ajv itself is not loaded. */
export const acceptsConfig: ValidateFunction<ConfigFile> = new Ajv({ strict: false }).compile<ConfigFile>(SCHEMA);
