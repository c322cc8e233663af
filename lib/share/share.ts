import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, removeIfThere } from '../disk.js';
import { HiError, systemCode, systemReason } from '../errors.js';
import { loadCodec } from '../history/file/codec.js';
import type { HistoryStore } from '../history/store.js';
import { monotonic } from '../waits.js';
import { answers } from './answers.js';
import { Exchange } from './exchange.js';
import type { SharedFolder } from './news.js';
import { keyCheck, newKeyText, parseKey, type ShareKey } from './sealed-file.js';
import {
  LATER,
  MARKER,
  type Marker,
  machinesIn,
  readMarker,
  strangersIn,
  unusable,
  writeMarker,
} from './shared-folder.js';
import type { ExchangeDeps } from './standing.js';
import {
  barKnown,
  exchangeBarred,
  type MachineState,
  machineId,
  readState,
  type ShareState,
  statePaths,
} from './state.js';
import type { Arrival } from './taking.js';

/** How a conversation is shared. */
export interface ShareSettings {
  readonly folder: string;
  /** The user's name for this machine. */
  readonly name: string;
  /** The key as text; null if there is none. Throws a `HiError` of code `config`. */
  key(): Promise<string | null>;
}

/** What sharing needs besides. */
export interface ShareDeps extends Omit<ExchangeDeps, 'history' | 'name' | 'unlock'> {
  readonly history: HistoryStore;
  /** The name of the host. */
  readonly host: string;
}

/** What an exchange brought, and what the user should know. */
export interface Exchanged {
  readonly arrivals: readonly Arrival[];
  readonly notices: readonly string[];
}

/** The other machines of a conversation. Nothing fails because of them: a problem is a notice, once. */
export interface Sharing {
  /** Takes in what the other machines have given out. */
  takeIn(): Promise<Exchanged>;
  /** Gives out what is new here. */
  giveOut(): Promise<Exchanged>;
  /** To be awaited before this conversation is reset: what the folder holds stays away from the next one here. */
  beforeReset(): Promise<Exchanged>;
  /**
   * Resets this conversation and, when hi next runs there, those of the other machines. Turns that are not known here
   * stay there. Throws a `HiError`, mostly before anything was reset. Resolves to the number of messages that were
   * here.
   */
  resetEverywhere(purge: boolean): Promise<number>;
  /** To be awaited after a reset was undone. */
  afterUndo(): Promise<void>;
  /** The machines that have not forgotten yet what the mark of that name says. Known after an exchange. */
  notForgotten(uid: string): readonly MachineState[];
}

/** The exchange with the other machines while a conversation goes on. */
export function openSharing(settings: ShareSettings, deps: ShareDeps): Sharing {
  let machines: readonly MachineState[] = [];
  let isSilent = false;
  let asked = 0;
  const run = async (work: (exchange: Exchange) => Promise<void>): Promise<Exchanged> => {
    const { isKept, isAside } = deps.history;
    // One that does not answer is not asked again in the same breath.
    if (!isKept || isAside || (isSilent && monotonic() - asked < SILENCE)) return { arrivals: [], notices: [] };
    asked = monotonic();
    let exchange: Exchange | null = null;
    let problem: string | null;
    try {
      isSilent = !(await answers(settings.folder));
      if (isSilent) throw unanswered(settings.folder);
      exchange = await exchangeOf(settings, deps);
      await work(exchange);
      machines = exchange.others;
      problem = newerProblem(machines);
    } catch (thrown) {
      problem = problemOf(thrown, settings.folder);
    }
    const { arrivals = [], resetBy = [] } = exchange ?? {};
    return { arrivals, notices: [...clearedNotices(resetBy), ...told(deps.data, problem)] };
  };
  return {
    takeIn: async () => await run(async (exchange) => await exchange.takeIn()),
    giveOut: async () =>
      await run(async (exchange) => {
        await exchange.giveOut();
        if (newerProblem(exchange.others) === null) allIsWell(deps.data);
      }),
    async beforeReset() {
      const exchanged = await run(async (exchange) => {
        await exchange.takeIn();
        await exchange.giveOut();
      });
      if (deps.history.isKept) barKnown(deps.data);
      return exchanged;
    },
    resetEverywhere: async (purge) => await resetEverywhere(settings, deps, purge),
    async afterUndo() {
      if (deps.history.isKept) exchangeBarred(deps.data);
    },
    notForgotten: (uid) => machines.filter(({ forgot }) => !forgot.includes(uid)),
  };
}

async function resetEverywhere(settings: ShareSettings, deps: ShareDeps, purge: boolean): Promise<number> {
  if (!(await answers(settings.folder))) throw unanswered(settings.folder);
  try {
    const before = await exchangeOf(settings, deps);
    await before.takeIn();
    await before.giveOut();
    const { messages } = deps.history.totals;
    barKnown(deps.data);
    await deps.reset(purge);
    await (await exchangeOf(settings, deps)).giveReset(purge);
    return messages;
  } catch (thrown) {
    if (systemCode(thrown) === null) throw thrown;
    throw unusable(settings.folder, thrown);
  }
}

/** What the user should know of resets that were asked for elsewhere. */
const clearedNotices = (resetBy: Exchange['resetBy']): readonly string[] =>
  resetBy.map(({ machine, purge }) => {
    const cleared = `The conversation was cleared on all machines, from ${machine}.`;
    return purge ? cleared : `${cleared} To restore it here, run: hi reset --undo`;
  });

/** What to do about machines whose hi is newer than this one; null if there are none. */
function newerProblem(machines: readonly MachineState[]): string | null {
  const names = machines.flatMap(({ name, isNewer }) => (isNewer ? [name] : []));
  return names.length === 0 ? null : newerNotice(names.join(', '));
}

/** What to do about a machine whose hi is newer than this one. */
export const newerNotice = (machine: string): string =>
  `${machine} has a newer hi. Update hi here to take in what it says.`;

/** The exchange with a folder that is there. Throws a `HiError` of code `config`, and the system's errors. */
async function exchangeOf(settings: ShareSettings, deps: ShareDeps): Promise<Exchange> {
  const { folder } = settings;
  const marker = readMarker(folder);
  if (marker === null)
    throw new HiError(
      'config',
      `'${folder}' is not a shared folder now: it is empty, or its disk is not mounted.`,
      LATER,
    );
  return exchangeIn(marker, settings, deps, async () => await usableKey(settings, marker));
}

const unanswered = (folder: string): HiError =>
  new HiError('config', `The shared folder '${folder}' does not answer.`, LATER);

/** How long a folder that did not answer is left alone. Milliseconds. */
const SILENCE = 30_000;

function exchangeIn(
  { id }: Marker,
  { folder, name }: ShareSettings,
  deps: ShareDeps,
  unlock: () => Promise<ShareKey>,
): Exchange {
  makeFolder(deps.data, 0o700);
  let key: ShareKey | null = null;
  const opened: SharedFolder = {
    path: folder,
    id,
    machine: machineId(statePaths(deps.data), deps.host),
    codec: loadCodec(),
    get key() {
      if (key === null) throw new Error('The key of the folder was not read.');
      return key;
    },
  };
  const readKey = async (): Promise<void> => {
    key ??= await unlock();
  };
  return new Exchange(opened, { ...deps, name, unlock: readKey });
}

/** The key of a folder. Throws a `HiError` of code `config` if there is none, or it is another folder's. */
async function usableKey({ key, folder }: ShareSettings, marker: Marker): Promise<ShareKey> {
  const text = await key();
  if (text === null)
    throw new HiError('config', `There is no key for the shared folder '${folder}'.`, {
      hint: "Set HI_SHARE_KEY to what 'hi share --key' prints on a machine that has it, or run 'hi share FOLDER' on a terminal.",
    });
  const parsed = parseKey(text);
  if (parsed === null || keyCheck(parsed, marker.id) !== marker.check)
    throw new HiError('config', `The key is not that of the shared folder '${folder}'.`, {
      hint: 'To see the right one, run on a machine that has it: hi share --key',
    });
  return parsed;
}

function problemOf(thrown: unknown, folder: string): string {
  const problem = systemCode(thrown) === null ? thrown : unusable(folder, thrown);
  if (!(problem instanceof HiError)) throw problem;
  return problem.hint === null ? problem.message : `${problem.message} ${problem.hint}`;
}

/** The notice of a problem if it was not given since everything was last well. */
function told(data: string, problem: string | null): readonly string[] {
  const path = toldIn(data);
  const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (problem === null || before.includes(problem)) return [];
  try {
    writeFileSync(path, `${before}${problem}\n`, { mode: 0o600 });
  } catch {
    // Told twice is better than a failure.
  }
  return [problem];
}

/** What is wrong from now on is told anew. */
function allIsWell(data: string): void {
  try {
    removeIfThere(toldIn(data));
  } catch {
    // Not told again is better than a failure.
  }
}

const toldIn = (data: string): string => join(data, 'share.told');

/** What beginning to share, or joining, needs to know of the user. */
export interface Beginning {
  /** The key that was given; null for a new one in a folder that is not shared yet. */
  readonly key: string | null;
  /** The folder that this machine shares so far; null for none. */
  readonly before: string | null;
  /** The keys that this machine has, the one in use first. */
  readonly keys: readonly string[];
  /** Asks for the key; null without a terminal. */
  readonly ask: (() => Promise<string>) | null;
}

/**
 * The key with which a folder is shared from now on, and whether this machine is the first there. Writes nothing but
 * the marker of a new one. Throws a `HiError`.
 */
export async function beginSharing(
  folder: string,
  { data, memory }: Pick<ShareDeps, 'data' | 'memory'>,
  { key, before, keys, ask }: Beginning,
): Promise<{ readonly key: string; readonly isNew: boolean }> {
  if (!(await answers(folder)))
    throw new HiError('config', `The folder '${folder}' does not answer.`, { hint: 'Try again when it does.' });
  for (const own of [data, join(memory, '..')]) refuseNested(folder, own);
  if (existsSync(folder) && !statSync(folder).isDirectory())
    throw new HiError('usage', `'${folder}' is not a folder.`, { hint: 'Share a folder of its own.' });
  try {
    const marker = readMarker(folder);
    if (marker === null) {
      const [first = null] = keys;
      // The key of another folder may be in wrong hands.
      const own = (before ?? folder) === folder ? first : null;
      const isAgain = before === folder && first === (key ?? own);
      return begin(folder, key ?? own, isAgain ? (readState(statePaths(data))?.folder ?? null) : null);
    }
    const kept = keys.find((one) => keyCheck(parseKey(one) ?? Buffer.alloc(0), marker.id) === marker.check);
    const text = key ?? kept ?? (await ask?.()) ?? null;
    const usable = await usableKey({ folder, name: '', key: async () => text }, marker);
    return { key: usable.toString('base64url'), isNew: false };
  } catch (thrown) {
    if (systemCode(thrown) === null) throw thrown;
    throw new HiError('config', `The folder '${folder}' cannot be shared: ${systemReason(thrown)}.`, {
      hint: 'Check its permissions.',
      cause: thrown,
    });
  }
}

/**
 * A folder without a marker, or with a part of one; `id` is the one that it had on this machine. With a syncer that has
 * not copied the marker yet there would be two.
 */
function begin(
  folder: string,
  given: string | null,
  id: string | null,
): { readonly key: string; readonly isNew: boolean } {
  const isCopied = existsSync(join(folder, MARKER)) || (existsSync(folder) && machinesIn(folder).length > 0);
  if (isCopied && id === null)
    throw new HiError('config', `'${folder}' is shared already, but its '${MARKER}' is not there as a whole.`, {
      hint: 'Run this again when your syncer has copied all of it.',
    });
  const key = given === null ? newKeyText() : given.trim();
  const parsed = parseKey(key);
  if (parsed === null)
    throw new HiError('config', 'HI_SHARE_KEY is not a key.', {
      hint: "It is what 'hi share --key' prints: 43 letters and digits.",
    });
  makeFolder(folder, 0o700);
  writeMarker(folder, parsed, id || undefined);
  return { key, isNew: true };
}

/** hi's own folders change, and a syncer would bring them to other machines. */
function refuseNested(folder: string, own: string): void {
  const [one, other] = [realPath(folder), realPath(own)];
  if (one !== other && !one.startsWith(`${other}/`) && !other.startsWith(`${one}/`)) return;
  throw new HiError('usage', `'${folder}' and hi's own folder '${own}' are within each other.`, {
    hint: 'Share a folder of its own, outside the folders that hi config path prints.',
  });
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** What is there after an exchange. */
export interface ExchangedNow {
  readonly arrivals: readonly Arrival[];
  readonly state: ShareState;
  /** The id of this machine. */
  readonly machine: string;
  /** What is where a machine's folder should be, and is none. */
  readonly strangers: readonly string[];
  /** What the user should know. */
  readonly notices: readonly string[];
}

/**
 * Exchanges everything now; with `everything` after reading it all again. Throws a `HiError`, and the system's errors.
 */
export async function exchangeNow(
  settings: ShareSettings,
  deps: ShareDeps,
  everything: boolean,
): Promise<ExchangedNow> {
  if (!(await answers(settings.folder))) throw unanswered(settings.folder);
  try {
    const exchange = await exchangeOf(settings, deps);
    await (everything ? exchange.repair() : exchange.takeIn());
    if (!everything) await exchange.giveOut();
    allIsWell(deps.data);
    const { arrivals, state, machine } = exchange;
    const notices = clearedNotices(exchange.resetBy);
    return { arrivals, state, machine, strangers: strangersIn(settings.folder), notices };
  } catch (thrown) {
    if (systemCode(thrown) === null) throw thrown;
    throw unusable(settings.folder, thrown);
  }
}
