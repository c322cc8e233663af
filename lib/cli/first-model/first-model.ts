import { readSettings, type Settings, type SettingsOptions } from '../base/settings.js';
import { canApprove } from '../base/streams.js';
import type { World } from '../base/world.js';
import { openPrompts } from '../terminal/prompts.js';
import { offerModel } from './offer-model.js';

/**
 * The settings of a turn. If the server found has no model, asks the user on a terminal which one it should download. Without a terminal, they stay
 * unchanged. Throws an abort error if the user leaves.
 */
export async function withFirstModel(
  world: World,
  options: SettingsOptions,
  settings: Settings,
  signal: AbortSignal,
): Promise<Settings> {
  const { empty } = settings;
  if (empty === null || !canApprove(world)) return settings;
  const name = await offerModel(world, empty, 'none', await openPrompts(world, signal), signal);
  if (name === null) return settings;
  return await readSettings(world, options);
}
