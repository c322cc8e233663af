import { existsSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { localMinute, quantity } from '../../chat/text.js';
import { findPaths, type Paths } from '../../config/paths.js';
import { readConfig } from '../../config/read-config.js';
import { writeShare } from '../../config/write.js';
import { makeFolder, writeAside } from '../../disk.js';
import { HiError } from '../../errors.js';
import { HistoryStore } from '../../history/store.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { beginSharing, type ExchangedNow, exchangeNow, newerNotice, type ShareSettings } from '../../share/share.js';
import { lacksFiles, NO_MACHINE, shownName } from '../../share/state.js';
import { password } from '../ask/inquirer.js';
import { askQuestion } from '../ask/terminal-question.js';
import { writeJson } from '../base/command-output.js';
import type { CommonOptions } from '../base/options.js';
import { hideHistoryProgress, printHistoryNotices, printNotices, showHistoryProgress } from '../base/output.js';
import { CONFIG_CHECK } from '../base/settings.js';
import type { World } from '../base/world.js';
import { givenKey, hostName, type ShareSection, shareDeps, shareSettings, storedKeys } from '../wiring/sharing.js';

interface ShareOptions extends CommonOptions {
  readonly name?: string;
  readonly key?: boolean;
  readonly off?: boolean;
  readonly repair?: boolean;
  readonly json?: boolean;
}

/** What the command works on. */
interface Asked {
  readonly world: World;
  readonly paths: Paths;
  readonly options: ShareOptions;
  readonly share: ShareSection;
  readonly hasClock: boolean;
  say(text: string): void;
}

/**
 * Shares the conversation through a folder, exchanges, or shows the machines. Resolves to the exit status. Throws
 * `HiError`s.
 */
export async function shareCommand(world: World, word: string | null, options: ShareOptions): Promise<number> {
  const paths = await findPaths(world.env, options.config ?? null);
  const { file } = await readConfig(paths.configFile, CONFIG_CHECK, options.config !== undefined);
  const { folder = null, name = null, key = null } = file?.share ?? {};
  const say = (text: string): void => void (options.quiet || world.stderr.write(neutralise(`${text}\n`)));
  const asked: Asked = { world, paths, options, share: { folder, name, key }, hasClock: file?.clock ?? true, say };
  const chosen = [options.key, options.off, options.repair].filter(Boolean).length;
  if (chosen > 1 || (chosen === 1 && word !== null))
    throw new HiError('usage', 'Only one thing can be done at a time.', { hint: 'hi share --help lists them.' });
  if (word !== null && word !== 'sync') return await join(asked, word);
  if (options.name !== undefined) return await rename(asked, required(asked));
  if (options.key) return await printKey(asked);
  if (options.off) return await off(asked);
  return await exchange(asked, required(asked), word === 'sync' || options.repair === true);
}

function required({ world, paths, share }: Asked): ShareSettings {
  const settings = shareSettings(world, paths, share);
  if (settings !== null) return settings;
  throw new HiError('usage', 'The conversation is not shared.', {
    hint: 'To share it, run: hi share FOLDER, with a folder that a syncer keeps alike on your machines.',
  });
}

/** Begins to share a folder, or joins it. Nothing is written before the key is known to be right. */
async function join(asked: Asked, folder: string): Promise<number> {
  const { world, paths, options, share, say } = asked;
  const path = resolve(world.cwd, folder);
  const name = checkName(options.name ?? share.name ?? hostName(world));
  const before = shareSettings(world, paths, share)?.folder ?? null;
  requireMeant(folder, path, before);
  const given = await givenKey(world, share.key);
  const stored = storedKeys(paths);
  const keys = given === null ? stored : [given, ...stored];
  const canAsk = world.stdinIs === 'terminal' && world.stderr.isTTY === true;
  const ask = canAsk ? async (): Promise<string> => await askKey(world, path) : null;
  const { key, isNew } = await beginSharing(path, paths, { key: given, before, keys, ask });
  if (share.key === null) {
    makeFolder(dirname(paths.shareKey), 0o700);
    const kept = [...new Set([key, ...stored])];
    writeAside(paths.shareKey, `${kept.join('\n')}\n`, { mode: 0o600, private: true, synced: true });
  }
  await writeShare(paths.configFile, { folder: path, name, ...(share.key !== null && { key: share.key }) });
  say(isNew ? `'${path}' is a shared folder from now on.` : `This machine has joined '${path}' as '${name}'.`);
  const place = share.key === null ? `in '${paths.shareKey}'` : `what '${share.key}' prints`;
  say(`The key is ${place}. The other machines need it, too: hi share --key`);
  const section = { folder: path, name, key: share.key };
  const settings = { folder: path, name, key: async () => key };
  return await exchange({ ...asked, share: section }, settings, true);
}

/** A word in place of a command would end the sharing of the present folder. Throws a `HiError`. */
function requireMeant(word: string, path: string, before: string | null): void {
  if (word.trim() === '') throw new HiError('usage', 'The folder has no name.', { hint: 'Run: hi share FOLDER' });
  if (before === null || word.includes('/') || existsSync(path)) return;
  throw new HiError('usage', `There is no folder '${word}'.`, {
    hint: `To make one, and share it in place of '${before}', run: hi share ./${word}`,
  });
}

function checkName(given: string): string {
  const name = given.trim();
  if (name.length > 0 && name.length <= 64 && !/\p{Cc}/u.test(name)) return name;
  throw new HiError('usage', `'${neutralise(name)}' is not a name of a machine.`, { hint: 'Use 1 to 64 characters.' });
}

/** Names this machine, also while its folder is not there. */
async function rename(asked: Asked, settings: ShareSettings): Promise<number> {
  const { paths, options, share, say } = asked;
  const name = checkName(options.name ?? settings.name);
  await writeShare(paths.configFile, { folder: settings.folder, name, ...(share.key !== null && { key: share.key }) });
  say(`This machine is '${name}' from now on.`);
  return await exchange({ ...asked, share: { ...share, name } }, { ...settings, name }, true);
}

async function askKey(world: World, folder: string): Promise<string> {
  const message = `The key of '${folder}' (hi share --key prints it on a machine that has it):`;
  const streams = { input: world.stdin, output: world.stderr };
  return await askQuestion((asking) => password({ message, mask: '*' }, asking), streams);
}

async function printKey(asked: Asked): Promise<number> {
  const key = await required(asked).key();
  if (key === null) throw new HiError('config', 'There is no key.', { hint: 'Run: hi share FOLDER' });
  if (asked.options.json) writeJson(asked.world.stdout, { key }, 2);
  else asked.world.stdout.write(`${key}\n`);
  return 0;
}

async function off({ paths, say, share }: Asked): Promise<number> {
  if (share.folder === null) {
    say('The conversation is not shared.');
    return 0;
  }
  await writeShare(paths.configFile, null);
  if (existsSync(paths.shareKey)) rmSync(paths.shareKey);
  say(`No longer shared. What this machine has given out stays in '${share.folder}'.`);
  return 0;
}

/** Exchanges everything, and shows the machines. */
async function exchange(asked: Asked, settings: ShareSettings, isAll: boolean): Promise<number> {
  const { world, paths, options, hasClock, say } = asked;
  showHistoryProgress(world);
  const history = await HistoryStore.open({ folder: paths.data, now: world.now });
  try {
    const deps = shareDeps(world, paths, history, hasClock);
    const exchanged = await exchangeNow(settings, deps, options.repair ?? false);
    hideHistoryProgress();
    printHistoryNotices(world, history);
    printNotices(world, exchanged.notices);
    const turns = exchanged.arrivals.reduce((sum, arrival) => sum + arrival.turns, 0);
    if (isAll && turns > 0) say(`${quantity(turns, 'turn')} from other machines.`);
    if (options.json) writeJson(world.stdout, asJson(settings, exchanged), 2);
    else for (const line of lines(settings, exchanged)) world.stdout.write(neutralise(`${line}\n`));
    return 0;
  } finally {
    hideHistoryProgress();
    await history.close();
  }
}

/** The machines, by the names that they have here. */
function machinesOf({ name: own }: ShareSettings, { state, machine }: ExchangedNow) {
  // This one is there before it has given out anything.
  return Object.entries({ [machine]: { ...NO_MACHINE, name: own }, ...state.machines }).map(([id, one]) => {
    return { ...one, id, name: shownName(id, one.name, state, { id: machine, name: own }) };
  });
}

function lines(settings: ShareSettings, exchanged: ExchangedNow): readonly string[] {
  return [
    settings.folder,
    ...machinesOf(settings, exchanged).map(({ id, name, last, turns, waiting }) => {
      const when = last === null ? 'nothing said' : `last turn ${localMinute(last)}`;
      const waits = waiting === 0 ? '' : ` · ${quantity(waiting, 'file')} waiting`;
      const own = id === exchanged.machine ? ' (this machine)' : '';
      return `  ${name}${own} · ${quantity(turns, 'turn')} · ${when}${waits}`;
    }),
    ...problemsIn(settings, exchanged),
  ];
}

function asJson(settings: ShareSettings, exchanged: ExchangedNow): object {
  const machines = machinesOf(settings, exchanged).map(({ id, name, last, turns, waiting }) => {
    return { name, id, last, turns, waiting, ...(id === exchanged.machine && { this: true }) };
  });
  return { folder: settings.folder, machines, problems: problemsIn(settings, exchanged) };
}

/** What is wrong in the folder, and what other machines have not done yet. */
function problemsIn(settings: ShareSettings, exchanged: ExchangedNow): readonly string[] {
  const { forgotten } = exchanged.state;
  const problems = machinesOf(settings, exchanged).flatMap((machine) => {
    const { id, name, ignored, isNewer, forgot } = machine;
    const files = ignored.map(([file, , copied]) => {
      const why = copied === null ? 'cannot be read' : `is a copy of '${copied}'`;
      return `'${id}/${file}' of ${name} ${why}, and is ignored.`;
    });
    const isMissing = id !== exchanged.machine && lacksFiles(machine);
    const missing = isMissing ? [`Files of ${name} are missing here. They are taken in when they come.`] : [];
    const newer = isNewer ? [newerNotice(name)] : [];
    const left = forgotten.filter((item) => !forgot.includes(item.id)).length;
    const waits =
      id !== exchanged.machine && left > 0 ? [`${name} has not forgotten yet what was forgotten elsewhere.`] : [];
    return [...files, ...missing, ...newer, ...waits];
  });
  return [...problems, ...exchanged.strangers.map((name) => `'${name}' is not a folder, and is ignored.`)];
}
