import type { ConfigFile } from '../../config/config.js';
import type { ConfigCheck } from '../../config/read-config.js';
import { acceptsConfig } from './config-acceptor.js';

/** The check of `config.json`. The code that explains a mistake is loaded only for one. */
export const CONFIG_CHECK: ConfigCheck = {
  accepts: (value): value is ConfigFile => acceptsConfig(value),
  explaining: async () => (await import('./config-validator.js')).checkConfig,
};
