import { closeSync, ftruncateSync, openSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, parseObject } from '../chat/json.js';
import type { Message } from '../chat/message.js';
import { readRegularFile, removeIfThere, writeAside } from '../disk.js';
import type { Decisions } from './decisions.js';
import type { ForgetItem, MessageName } from './items.js';
import { KnownTurns } from './known-turns.js';
import { newId } from './sealed-file.js';

/** What was read of a machine's folder. */
export interface MachineState {
  /** The user's name for it. */
  readonly name: string;
  /** The `stampOf` its folder when everything in it was read; empty if something is waiting. */
  readonly stamp: string;
  /**
   * The files that need not be read again, as `listOf` their names: every question reads them with the state, and
   * thousands of strings would take longer to parse than the rest.
   */
  readonly read: string;
  /** Everything up to this number was taken in. */
  readonly done: number;
  /** Since when a number is missing; null if none is. Milliseconds. */
  readonly since: number | null;
  /** The numbers that are missing, and were waited for in vain. */
  readonly missing: readonly (readonly [first: number, last: number])[];
  /** The files that wait for a missing number, or for a newer hi. */
  readonly waiting: number;
  /** When its newest turn was said; null if there is none. */
  readonly last: string | null;
  readonly turns: number;
  /** The name of the first of its turns that is not kept away; null if there is none. */
  readonly first: string | null;
  /** The names of its newest turns, the newest last. */
  readonly recent: readonly string[];
  /** Whether some of them wait for a newer hi. */
  readonly isNewer: boolean;
  /**
   * The files that are not hi's, too large or damaged, with what tells whether they were changed, and copies of other
   * files with the name of the one that was read.
   */
  readonly ignored: readonly (readonly [name: string, signature: string, copied: string | null])[];
  /** The ids of the forget items that it has carried out. */
  readonly forgot: readonly string[];
}

/** Where this machine stands. All of it can be found out again from the history and the folder. */
export interface ShareState {
  /** The folder that all this is about. */
  readonly folder: string;
  /**
   * The name of the history, and its newest entry that is accounted for. If the history has no such entry, all of this
   * is void.
   */
  readonly log: string | null;
  readonly last: { readonly id: number; readonly at: string };
  /** How many of the known turns belong to it. */
  readonly known: number;
  readonly machines: Readonly<Record<string, MachineState>>;
  /** The number of the newest item of this machine. */
  readonly given: number;
  /** The files of this machine, with their sizes in bytes. */
  readonly own: Readonly<Record<string, number>>;
  /** The turns of this machine that were not given out yet. */
  readonly open: readonly number[];
  /** The turns that have not ended, with the newest message of each. */
  readonly unfinished: readonly (readonly [turn: number, newest: Pick<Message, 'at' | 'role'>])[];
  readonly decisions: Decisions;
  /** The pinned messages by their ids. */
  readonly pins: readonly (readonly [id: number, name: MessageName])[];
  /** What was forgotten. */
  readonly forgotten: readonly ForgetItem[];
  /** What other machines forgot and this one could not yet. */
  readonly pending: readonly ForgetItem[];
  /** The forget items whose turns are in no file of this machine any more. */
  readonly cleaned: readonly string[];
  /** The digest of the summary that was given out last; empty if none was. */
  readonly summary: string;
  /** The attachments that are not here yet, with the machine that has them. */
  readonly late: readonly (readonly [sha256: string, machine: string])[];
}

/**
 * What a machine is called on this one, which nothing else is: what the user called it, with a part of its id where
 * this machine, or one that was known before it, has that name. Nothing is known of one whose files cannot be read.
 */
export function shownName(
  id: string,
  name: string,
  { machines }: Pick<ShareState, 'machines'>,
  own: { readonly id: string; readonly name: string },
): string {
  if (id === own.id) return name;
  const [first = id] = Object.keys(machines).filter((other) => other !== own.id && machines[other]?.name === name);
  const isAlone = first === id && name !== own.name && name !== '';
  return isAlone ? name : `${name || 'a machine'} (${id.slice(0, 4)})`;
}

/** Whether a syncer has brought only some of the files of another machine. It has no folder before its first file. */
export function lacksFiles({ read, since, missing, waiting, ignored }: MachineState): boolean {
  return since !== null || missing.length > 0 || read.length + waiting + ignored.length === 0;
}

/** Names of files as one string. */
export const listOf = (names: Iterable<string>): string => [...names].join('/');

/** The names in a `listOf` them. */
export const namesOf = (list: string): readonly string[] => (list === '' ? [] : list.split('/'));

export const NO_MACHINE: MachineState = {
  name: '',
  stamp: '',
  read: '',
  done: 0,
  since: null,
  missing: [],
  waiting: 0,
  isNewer: false,
  last: null,
  turns: 0,
  first: null,
  recent: [],
  ignored: [],
  forgot: [],
};

/** A state in which nothing was read or given out. */
export function emptyState(folder: string, log: string | null): ShareState {
  const lists = { open: [], unfinished: [], pins: [], forgotten: [], pending: [], cleaned: [], late: [] };
  return {
    folder,
    log,
    last: { id: 0, at: '' },
    known: 0,
    machines: {},
    given: 0,
    own: {},
    decisions: {},
    summary: '',
    ...lists,
  };
}

/** The files in which this machine keeps where it stands. */
interface StatePaths {
  readonly state: string;
  readonly known: string;
  /** The names that must stay away from this conversation since its last reset, and from the copy. */
  readonly barred: string;
  readonly barredOfCopy: string;
  /** The ids of the resets of all machines that were carried out here. One that was undone is not carried out again. */
  readonly resets: string;
  readonly machine: string;
}

/** The paths in the data folder. */
export function statePaths(data: string): StatePaths {
  const path = (name: string): string => join(data, name);
  return {
    state: path('share.json'),
    known: path('share.known'),
    barred: path('share.barred'),
    barredOfCopy: path('share.barred.reset'),
    resets: path('share.resets'),
    machine: path('share.machine'),
  };
}

/** With every other form of the state there is another version: one of an earlier version is found out again. */
const VERSION = 7;

/** So many of the newest turns of a machine are remembered by name: some of them may be forgotten. */
export const RECENT = 8;

/** The state as it was written; null if there is none, or it cannot be read. */
export function readState({ state }: StatePaths): ShareState | null {
  const found = parseObject(readText(state));
  // The file is hi's own, and derived: it is complete or not there.
  return found !== null && found.v === VERSION && isJsonObject(found.machines)
    ? (found as unknown as ShareState)
    : null;
}

/** Stores the state, and after that the turns that were added. Throws the system's error. */
export function writeState(paths: StatePaths, state: ShareState, known: KnownTurns, isNew: boolean): ShareState {
  if (isNew) writeFileSync(paths.known, known.all, { mode: 0o600 });
  else if (known.added.length > 0) {
    writeBehind(paths.known, known.added, KnownTurns.size(known.count) - known.added.length);
  }
  known.stored();
  const written = { v: VERSION, ...state, known: known.count };
  writeAside(paths.state, JSON.stringify(written), { mode: 0o600, synced: false });
  return written;
}

/** Writes at a position, behind which a kill may have left something. */
function writeBehind(path: string, bytes: Buffer, position: number): void {
  const file = openSync(path, 'r+');
  try {
    writeSync(file, bytes, 0, bytes.length, position);
    ftruncateSync(file, position + bytes.length);
  } finally {
    closeSync(file);
  }
}

/** The known turns of a state; null if the file has fewer. */
export function readKnown({ known }: StatePaths, { known: count, last }: ShareState): KnownTurns | null {
  const size = KnownTurns.size(count);
  if ((statSync(known, { throwIfNoEntry: false })?.size ?? 0) < size) return null;
  return new KnownTurns({ count, last: last.id, read: () => readBytes(known).subarray(0, size) });
}

/** The names of turns in a list with 8 bytes each. */
export function namesIn(list: Buffer): readonly string[] {
  return Array.from({ length: Math.floor(list.length / 8) }, (_, at) => list.toString('base64url', at * 8, at * 8 + 8));
}

/** The names that stay away, 8 bytes each. */
export const readBarred = ({ barred }: StatePaths): Buffer => readBytes(barred);

/** Before a reset: everything that is known stays away from the new conversation. Throws the system's error. */
export function barKnown(data: string): void {
  const paths = statePaths(data);
  const state = readState(paths);
  const known = state && readKnown(paths, state);
  bar(data, known?.names ?? Buffer.alloc(0));
}

/**
 * Before a reset: these names, 8 bytes each, stay away from the new conversation, like those that stayed away from this
 * one. Throws the system's error.
 */
export function bar(data: string, names: Buffer): void {
  const paths = statePaths(data);
  const before = readBarred(paths);
  writeAside(paths.barredOfCopy, before, { mode: 0o600, synced: true });
  writeAside(paths.barred, Buffer.concat([before, names]), { mode: 0o600, synced: true });
}

/** Whether a reset of all machines was carried out here. */
export function hasReset({ resets }: StatePaths, id: string): boolean {
  return readText(resets).split('\n').includes(id);
}

/** Remembers that a reset of all machines was carried out here. Throws the system's error. */
export function rememberReset(paths: StatePaths, id: string): void {
  if (hasReset(paths, id)) return;
  writeAside(paths.resets, `${readText(paths.resets)}${id}\n`, { mode: 0o600, synced: true });
}

/** After a reset was undone: what stays away belongs to each of the two conversations. Throws the system's error. */
export function exchangeBarred(data: string): void {
  const paths = statePaths(data);
  const [of, ofCopy] = [readBarred(paths), readBytes(paths.barredOfCopy)];
  writeAside(paths.barred, ofCopy, { mode: 0o600, synced: true });
  writeAside(paths.barredOfCopy, of, { mode: 0o600, synced: true });
}

/**
 * The id of this machine. A data folder that was copied to another machine gets a new one: there the host and the file
 * are others. A host that only got another name keeps it, and so does a folder that was restored on its own host.
 * Throws the system's error.
 */
export function machineId(paths: StatePaths, host: string): string {
  const { id, host: known, file } = parseObject(readText(paths.machine)) ?? {};
  if (typeof id === 'string' && (known === host || file === fileId(paths.machine))) return id;
  const made = newId();
  const write = (own: string): void =>
    writeFileSync(paths.machine, JSON.stringify({ id: made, host, file: own }), { mode: 0o600 });
  removeIfThere(paths.machine);
  write('');
  write(fileId(paths.machine));
  return made;
}

function fileId(path: string): string {
  const { dev, ino } = statSync(path);
  return `${dev}:${ino}`;
}

function readText(path: string): string {
  return readBytes(path).toString();
}

function readBytes(path: string): Buffer {
  if (statSync(path, { throwIfNoEntry: false }) === undefined) return Buffer.alloc(0);
  return readRegularFile(path);
}
