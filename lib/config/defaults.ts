import type { ConfigDefaults } from './config.js';
import { configKeys } from './keys.js';
import { defaultsOf } from './setting.js';

/** What applies when no source sets a key. The build evaluates this file, so that a start does not make the schema. */
export const DEFAULTS: ConfigDefaults = defaultsOf(configKeys({ providers: [], strategies: [], options: {} }));
