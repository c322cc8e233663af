import { isOwnAddress } from '../../chat/model.js';
import type { Config } from '../../config/config.js';
import type { ProviderMember } from '../../providers/common/provider.js';
import { providers } from '../../providers/index.js';
import { pick } from '../../registry.js';
import type { Settings, SettingsOptions } from '../base/settings.js';
import type { World } from '../base/world.js';

/** Whether neither the file nor the command line nor a variable of hi's own chooses a provider. */
function isProviderUnset({ env }: World, options: SettingsOptions, { file }: Settings): boolean {
  return !(file?.provider || options.provider || options.model || env.HI_PROVIDER || env.HI_MODEL);
}

/** Why hi uses this provider although none was chosen; null when one was. */
export function detectedProviderNotice(world: World, options: SettingsOptions, settings: Settings): string | null {
  const { config } = settings;
  if (config === null || !isProviderUnset(world, options, settings)) return null;
  const member: ProviderMember = pick(providers, config.provider, 'provider');
  return `Using ${reasonOf(member, config, world)}. To choose a provider or model, run: hi config init`;
}

function reasonOf(member: ProviderMember, { api_base }: Config, { env }: World): string {
  const { title, keyVariables, baseVariable, ownHosts } = member;
  if (api_base !== null && env[baseVariable] && !isOwnAddress(member, api_base)) {
    const host = `'${new URL(api_base).host}'`;
    return `${ownHosts.length === 0 ? `${title} at ${host}` : `the server at ${host}`}: ${baseVariable} names it`;
  }
  const variable = keyVariables.find((name) => env[name]?.trim());
  return `${title}: ${variable === undefined ? 'it runs on this machine' : `its key is in ${variable}`}`;
}
