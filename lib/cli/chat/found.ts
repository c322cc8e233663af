import { providers } from '../../providers/index.js';
import { pick } from '../../registry.js';
import type { Settings, SettingsOptions } from '../settings.js';
import type { World } from '../world.js';

/** Why it is this provider when nobody has chosen one; null when somebody has. */
export function foundNotice(world: World, options: SettingsOptions, { file, config }: Settings): string | null {
  const chosen = file?.provider || options.provider || options.model || world.env.HI_PROVIDER || world.env.HI_MODEL;
  if (chosen || config === null) return null;
  const { title, keyVariables } = pick(providers, config.provider, 'provider');
  const variable = keyVariables.find((name) => world.env[name]?.trim());
  const why = variable === undefined ? `${title} answers on this machine` : `the key of ${title} is in ${variable}`;
  return `Nothing is set up, but ${why}. To choose a provider or model: hi config init`;
}
