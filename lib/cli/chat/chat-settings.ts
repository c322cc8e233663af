import { NoModel } from '../../config/resolve.js';
import { isAbort } from '../../errors.js';
import type { ChatOptions } from '../base/command-options.js';
import { readSettings, type Settings } from '../base/settings.js';
import type { World } from '../base/world.js';
import { withFirstModel } from '../first-model/first-model.js';
import { canAsk, init } from '../init/init.js';
import { chatTerminal } from './chat-terminal.js';

/** The settings of a chat. If nothing is configured, the set-up runs first; null if the user leaves it. */
export async function chatSettings(world: World, options: ChatOptions, isDefault: boolean): Promise<Settings | null> {
  const settings = await readSettings(world, options);
  if (chatTerminal(world) !== 'full') return settings;
  if (settings.problem instanceof NoModel && settings.empty !== null)
    return await afterDownload(world, options, settings);
  if (settings.config !== null) return settings;
  // Who types `hi chat` and named a server is shown its error.
  if (settings.problem instanceof NoModel && !isDefault) return settings;
  if (!canAsk(world)) return settings;
  if ((await init(world, options, settings.empty)) === 0) return await readSettings(world, options);
  return null;
}

/** Null when the user leaves. */
async function afterDownload(world: World, options: ChatOptions, settings: Settings): Promise<Settings | null> {
  const stop = new AbortController();
  const release = world.onStop(() => stop.abort());
  try {
    return await withFirstModel(world, options, settings, stop.signal);
  } catch (thrown) {
    if (!isAbort(thrown)) throw thrown;
    return null;
  } finally {
    release();
  }
}
