import { providers } from '../../providers/index.js';
import { pick } from '../../registry.js';
import type { Settings, SettingsOptions } from '../base/settings.js';
import type { World } from '../base/world.js';

/** True when neither the file nor the command line nor a variable of hi's own says whose models to talk to. */
export function isProviderUnset({ env }: World, options: SettingsOptions, { file }: Settings): boolean {
  return !(file?.provider || options.provider || options.model || env.HI_PROVIDER || env.HI_MODEL);
}

/** Why it is this provider when nobody has chosen one; null when somebody has. */
export function detectedProviderNotice(world: World, options: SettingsOptions, settings: Settings): string | null {
  const { config } = settings;
  if (config === null || !isProviderUnset(world, options, settings)) return null;
  const { title, keyVariables } = pick(providers, config.provider, 'provider');
  const variable = keyVariables.find((name) => world.env[name]?.trim());
  const why = variable === undefined ? `${title} answers on this machine` : `the key of ${title} is in ${variable}`;
  return `Nothing is set up, but ${why}. To choose a provider or model: hi config init`;
}
