import { existsSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { newUid } from '../../chat/message.js';
import type { ForgetOrder } from '../../chat/occurrence.js';
import { localMinute, localTime } from '../../chat/text.js';
import type { Config } from '../../config/config.js';
import { type Paths, wasShared } from '../../config/paths.js';
import { readConfig } from '../../config/read-config.js';
import { readKey } from '../../config/read-key.js';
import { HiError } from '../../errors.js';
import type { HistoryStore } from '../../history/store.js';
import { openSharing, type ShareDeps, type ShareSettings, type Sharing } from '../../share/share.js';
import type { MachineState } from '../../share/state.js';
import type { Forgetting } from '../../slash/common/command.js';
import { CONFIG_CHECK } from '../base/settings.js';
import type { World } from '../base/world.js';
import { forgetting } from '../forget/forgetting.js';
import { purgeCaches } from '../forget/places.js';

/** The `share` section of the configuration. */
export type ShareSection = Config['share'];

/** Where the conversation is shared; null if it is not. Throws a `HiError` of code `config`. */
export function shareSettings(world: World, paths: Paths, { folder, name, key }: ShareSection): ShareSettings | null {
  if (folder === null) return null;
  return {
    folder: expanded(world, folder),
    name: name ?? hostName(world),
    key: async () => (await givenKey(world, key)) ?? storedKeys(paths)[0] ?? null,
  };
}

/** The key that the environment or a command gives; null for none. Throws a `HiError` of code `config`. */
export async function givenKey(world: World, key: string | null): Promise<string | null> {
  return world.env.HI_SHARE_KEY || (await readKey(key)) || null;
}

/**
 * The path of a folder in the configuration, which is not relative to a working folder. Throws a `HiError` of code
 * `config`.
 */
export function expanded({ home }: World, folder: string): string {
  const path = folder === '~' ? home : folder.startsWith('~/') ? join(home, folder.slice(2)) : folder;
  if (isAbsolute(path)) return path;
  throw new HiError('config', `The shared folder '${folder}' is not an absolute path.`, {
    hint: 'Set share.folder to one, or run: hi share FOLDER',
  });
}

/** The name of this machine, without its domain. */
export const hostName = ({ host }: World): string => host.split('.')[0] || 'this machine';

/** The keys that are kept on this machine: the one in use, and those of folders that were shared before. */
export function storedKeys({ shareKey }: Paths): readonly string[] {
  return existsSync(shareKey) ? readFileSync(shareKey, 'utf8').split(/\s+/).filter(Boolean) : [];
}

/** The parts of the conversation and of this machine that sharing uses. */
export function shareDeps(world: World, paths: Paths, history: HistoryStore, hasClock: boolean): ShareDeps {
  return {
    history,
    data: paths.data,
    memory: paths.memory,
    host: `${world.host} ${systemId()}`,
    line: (machine, at) => {
      const when = Number.isNaN(Date.parse(at)) ? [] : [localTime(at)];
      return hasClock ? { type: 'text', text: `[${[...when, `on ${machine}`].join(' · ')}]`, clock: true } : null;
    },
    async reset(purge) {
      await history.reset({ purge });
      // Summaries, spilled outputs and remembered inputs hold parts of the conversation.
      if (purge) purgeCaches(paths);
    },
    async forget({ id: uid, turns, messages }, ids) {
      const order: ForgetOrder = { kind: 'messages', ids };
      const found = await forgetting(order, history, paths, { uid, turns, messages });
      if (found !== null) await found.forget();
      else await history.mark({ type: 'forgotten', uid, forgotten_turns: turns, forgotten_messages: messages });
    },
  };
}

/** The id that the system gave this machine; empty if there is none. */
function systemId(): string {
  try {
    return readFileSync('/etc/machine-id', 'utf8').trim();
  } catch {
    return '';
  }
}

/** The exchange with the other machines; null if the conversation is not shared. */
export function sharingOf(
  world: World,
  paths: Paths,
  { share, clock }: Pick<Config, 'share' | 'clock'>,
  history: HistoryStore,
): Sharing | null {
  const settings = shareSettings(world, paths, share);
  return settings && openSharing(settings, shareDeps(world, paths, history, clock));
}

/**
 * The exchange of a command that reads no other settings; null if the conversation is not shared. Throws a `HiError` of
 * code `config`.
 */
export async function sharingFor(world: World, paths: Paths, history: HistoryStore): Promise<Sharing | null> {
  const { file } = await readConfig(paths.configFile, CONFIG_CHECK, false);
  const { folder = null, name = null, key = null } = file?.share ?? {};
  return sharingOf(world, paths, { share: { folder, name, key }, clock: file?.clock ?? true }, history);
}

/** Takes in what other machines have given out, for a command that only reads the conversation. Resolves to notices. */
export async function takeInFirst(world: World, paths: Paths, history: HistoryStore): Promise<readonly string[]> {
  return (await (await sharingFor(world, paths, history))?.takeIn())?.notices ?? [];
}

/** Like `forgetting`, on all machines of the conversation: the receipt names those that have not done it yet. */
export async function forgettingEverywhere(
  world: World,
  order: ForgetOrder,
  history: HistoryStore,
  paths: Paths,
): Promise<Forgetting | null> {
  if (!wasShared(paths)) return await forgetting(order, history, paths);
  const named = { uid: newUid(), turns: [], messages: [] };
  const found = await forgetting(order, history, paths, named);
  return (
    found && {
      messages: found.messages,
      shown: found.shown,
      forget: async () => {
        const receipt = await found.forget();
        const sharing = await sharingFor(world, paths, history);
        const { notices = [] } = (await sharing?.giveOut()) ?? {};
        // Not before: what came meanwhile was not meant. It tells which machines there are.
        await sharing?.takeIn();
        return [...receipt, ...notices, ...notYet(sharing?.notForgotten(named.uid) ?? [])];
      },
    }
  );
}

function notYet(machines: readonly MachineState[]): readonly string[] {
  if (machines.length === 0) return [];
  const names = machines.map(({ name, last }) => (last === null ? name : `${name} (last turn ${localMinute(last)})`));
  return [`Not forgotten yet, until hi runs there: ${names.join(', ')}.`];
}
