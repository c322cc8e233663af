import { providers } from '../../providers/index.js';
import { pick } from '../../registry.js';
import type { Settings, SettingsOptions } from '../base/settings.js';
import type { World } from '../base/world.js';

/** Whether neither the file nor the command line nor a variable of hi's own chooses a provider. */
export function isProviderUnset({ env }: World, options: SettingsOptions, { file }: Settings): boolean {
  return !(file?.provider || options.provider || options.model || env.HI_PROVIDER || env.HI_MODEL);
}

/** Why hi uses this provider although none was chosen; null when one was. */
export function detectedProviderNotice(world: World, options: SettingsOptions, settings: Settings): string | null {
  const { config } = settings;
  if (config === null || !isProviderUnset(world, options, settings)) return null;
  const { title, keyVariables } = pick(providers, config.provider, 'provider');
  const variable = keyVariables.find((name) => world.env[name]?.trim());
  const reason = variable === undefined ? 'it runs on this machine' : `its key is in ${variable}`;
  return `Using ${title}: ${reason}. To choose a provider or model, run: hi config init`;
}
