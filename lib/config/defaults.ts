import type { ConfigDefaults } from './config.js';
import { configKeys } from './keys.js';
import { defaultsOf } from './setting.js';

/** The values of keys that no source sets. The build evaluates this file, so that a start does not have to create the schema. */
export const DEFAULTS: ConfigDefaults = defaultsOf(configKeys({ providers: [], strategies: [], options: {} }));
