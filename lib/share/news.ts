import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../chat/json.js';
import type { Codec } from '../history/file/codec.js';
import { contentIn, type FileContent, itemOf, type SummaryItem } from './items.js';
import { HEADER, openFile, type ShareKey, unpacked } from './sealed-file.js';
import { filesIn, machinesIn, numbersIn, readShared, stampOf } from './shared-folder.js';
import { listOf, type MachineState, NO_MACHINE, namesOf, type ShareState } from './state.js';

/** A shared folder, as one machine uses it. */
export interface SharedFolder {
  readonly path: string;
  /** The id of the folder. */
  readonly id: string;
  /** The id of this machine. */
  readonly machine: string;
  readonly key: ShareKey;
  readonly codec: Codec;
}

/** How long a missing number is waited for. Milliseconds. */
const PATIENCE = 60_000;

/** So many new files are read at a time; damaged ones that did not change are not read again. */
const MOST_NEW = 5000;

/** A damaged file that was changed since may be whole by now. Milliseconds. */
const HALF_SYNCED = 60 * 60_000;

/** What is new in a machine's folder. */
export interface News {
  readonly machine: string;
  /** The state once its files were taken in. */
  readonly state: MachineState;
  /** The files to take in, in the order of their numbers, and how many items they have. */
  readonly files: Iterable<FileContent>;
  readonly items: number;
  /**
   * The newest summary in them, unless something was forgotten or reset since, and what was forgotten by their items.
   */
  readonly summary: SummaryItem | null;
  readonly forgotten: ReadonlySet<string>;
}

/**
 * The machines in whose folders something may have changed: in that of this machine, which it changes itself, with
 * `hasOthers`, files that it has not read. Looks at the folders only. Throws the system's error.
 */
export function changedMachines(
  { path, machine: own }: SharedFolder,
  { machines }: ShareState,
  now: number,
  hasOthers: boolean,
): readonly string[] {
  return machinesIn(path).filter((machine) => {
    if (machine === own) return hasOthers;
    const stamp = stampOf(join(path, machine), now);
    return stamp === '' || stamp !== machines[machine]?.stamp;
  });
}

/** A file that is not taken in: its name, its signature, and the file that it is a copy of. */
type Ignored = MachineState['ignored'][number];

/** A file that was read. */
interface ReadFile {
  readonly name: string;
  /** The beginning of its bytes, which no other file has but its copies. */
  readonly header: string;
  readonly signature: string;
  readonly first: number;
  readonly last: number;
  /** The items that decide whether a summary in them may be used. */
  readonly marks: readonly JsonObject[];
  content(): FileContent | null;
}

/**
 * Reads what is new in the folder of one machine; `isPatient` if a missing number is waited for. Throws the system's
 * error.
 */
export function newsOf(
  folder: SharedFolder,
  machine: string,
  before: MachineState,
  now: number,
  isPatient: boolean,
): News {
  const path = join(folder.path, machine);
  const isOwn = machine === folder.machine;
  const stamp = stampOf(path, now);
  const { names, others } = filesIn(path);
  const read = namesOf(before.read);
  const present = new Set(names);
  const known = new Set(read);
  const unread = names.filter((name) => !known.has(name));
  const { found, problems, newer, mayChange } = newFiles(folder, machine, unread, stillIgnored(before, present), now);
  const { originals, copies } = toldApart(found, before, path, isOwn);
  const { taken, waiting, done, missing } = inOrder(originals, before, now, isPatient && !isOwn);
  const isWaiting = waiting.length > 0 || newer > 0 || mayChange;
  return {
    machine,
    files: contentsOf(taken),
    items: taken.reduce((sum, { first, last }) => sum + last - first + 1, 0),
    ...summaryIn(taken.flatMap(({ marks }) => marks)),
    state: {
      ...before,
      stamp: isWaiting ? '' : stamp,
      read: listOf([...read.filter((name) => present.has(name)), ...taken.map(({ name }) => name)]),
      done,
      missing,
      since: waiting.length > 0 ? (before.since ?? now) : null,
      waiting: waiting.length + newer,
      isNewer: newer > 0,
      ignored: [...others.map((name): Ignored => [name, '', null]), ...problems, ...copies],
    },
  };
}

/** The files that were not read before. With `mayChange` there are more, or a damaged one may be whole by now. */
function newFiles(
  folder: SharedFolder,
  machine: string,
  unread: readonly string[],
  ignored: ReturnType<typeof stillIgnored>,
  now: number,
): { found: readonly ReadFile[]; problems: readonly Ignored[]; newer: number; mayChange: boolean } {
  const found: ReadFile[] = [];
  const problems: Ignored[] = [];
  let newer = 0;
  let isUnsettled = false;
  let left = MOST_NEW;
  for (const name of unread) {
    const signature = signatureOf(join(folder.path, machine, name));
    if (signature === null) continue;
    const seen = ignored.get(name);
    const isIgnored = seen?.signature === signature.text;
    if (!isIgnored) left -= 1;
    if (left < 0) break;
    const opened = isIgnored ? 'damaged' : readFile(folder, machine, name, signature.text);
    if (opened === 'newer') newer += 1;
    else if (opened === 'damaged') {
      const copied = isIgnored ? seen.copied : null;
      problems.push([name, signature.text, copied]);
      isUnsettled ||= copied === null && Math.abs(now - signature.changed) < HALF_SYNCED;
    } else found.push(opened);
  }
  return { found, problems, newer, mayChange: isUnsettled || left < 0 };
}

/** The ignored files by name, without copies whose original is gone: they may be the only ones that are left. */
function stillIgnored({ ignored }: MachineState, present: ReadonlySet<string>) {
  return new Map(
    ignored.flatMap(([name, signature, copied]) =>
      copied === null || present.has(copied) ? [[name, { signature, copied }]] : [],
    ),
  );
}

/** The files without those that are copies of one of them, or of one that was read before. */
function toldApart(found: readonly ReadFile[], { read, done }: MachineState, path: string, isOwn: boolean) {
  const known = new Map<string, string>();
  // Those of other machines begin with a number that was taken in.
  if (found.some(({ first }) => isOwn || first <= done))
    for (const name of namesOf(read)) known.set(headerOf(join(path, name)) ?? '', name);
  const originals: ReadFile[] = [];
  const copies: Ignored[] = [];
  // A copy mostly has no name of hi's, or not the one of its numbers.
  for (const file of [...found].sort((one, other) => Number(isNamed(other)) - Number(isNamed(one)))) {
    const original = known.get(file.header);
    if (original === undefined) originals.push(file);
    else copies.push([file.name, file.signature, original]);
    known.set(file.header, original ?? file.name);
  }
  return { originals, copies };
}

/** The header of a file; null if it is gone. */
function headerOf(path: string): string | null {
  return readShared(path, HEADER)?.toString('latin1') ?? null;
}

function isNamed({ name, first, last }: ReadFile): boolean {
  const numbers = numbersIn(name);
  return numbers?.first === first && numbers.last === last;
}

/** The files whose turn it is, and those that wait for a missing number. */
function inOrder(found: readonly ReadFile[], before: MachineState, now: number, isPatient: boolean) {
  const { since } = before;
  const isOver = !isPatient || (since !== null && Math.abs(now - since) >= PATIENCE);
  const taken: ReadFile[] = [];
  const waiting: ReadFile[] = [];
  let { done, missing } = before;
  for (const file of [...found].sort((one, other) => one.first - other.first || one.last - other.last)) {
    if (file.first > done + 1 && !isOver) {
      waiting.push(file);
      continue;
    }
    taken.push(file);
    missing = file.first > done + 1 ? [...missing, [done + 1, file.first - 1]] : without(missing, file);
    done = Math.max(done, file.last);
  }
  return { taken, waiting, done, missing };
}

function without(missing: MachineState['missing'], { first, last }: ReadFile): MachineState['missing'] {
  return missing.flatMap(([from, until]): MachineState['missing'] => {
    if (last < from || first > until) return [[from, until]];
    const left: MachineState['missing'] = [
      [from, first - 1],
      [last + 1, until],
    ];
    return left.filter(([one, other]) => one <= other);
  });
}

function summaryIn(marks: readonly JsonObject[]): Pick<News, 'summary' | 'forgotten'> {
  const forgotten = new Set<string>();
  let summary: SummaryItem | null = null;
  for (const item of marks.map(itemOf)) {
    summary = item?.kind === 'block' ? item : null;
    if (item?.kind === 'forget') forgotten.add(item.id);
  }
  return { summary, forgotten };
}

/** One after the other: those of a long conversation together may not fit into memory. */
function* contentsOf(files: readonly ReadFile[]): Generator<FileContent> {
  for (const file of files) {
    const content = file.content();
    if (content !== null) yield content;
  }
}

/** What tells whether a file was changed; null if it is gone. */
function signatureOf(path: string): { readonly text: string; readonly changed: number } | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found === undefined ? null : { text: `${found.size} ${found.mtimeMs}`, changed: found.mtimeMs };
}

function readFile(
  folder: SharedFolder,
  machine: string,
  name: string,
  signature: string,
): ReadFile | 'damaged' | 'newer' {
  const opened = openedFile(folder, machine, name);
  if (typeof opened === 'string') return opened;
  const header = headerOf(join(folder.path, machine, name));
  if (header === null) return 'damaged';
  const { first, last } = opened;
  // Its content is read again when it is taken in, unless it is small.
  const kept = opened.items.length < SMALL ? opened : null;
  const content = (): FileContent | null => {
    const again = kept ?? openedFile(folder, machine, name);
    return typeof again === 'string' ? null : again;
  };
  const marks = opened.items.filter(({ kind }) => kind === 'block' || kind === 'forget' || kind === 'reset');
  return { name, header, signature, first, last, marks, content };
}

/** So many items are kept until they are taken in. */
const SMALL = 100;

/** The content of a file of a machine, by which it is known to be whole, and by somebody who has the key. */
export function openedFile(folder: SharedFolder, machine: string, name: string): FileContent | 'damaged' | 'newer' {
  const bytes = readShared(join(folder.path, machine, name));
  if (bytes === null) return 'damaged';
  const opened = openFile(folder.key, placeOf(folder, machine), bytes);
  if (opened.kind !== 'content') return opened.kind === 'newer' ? 'newer' : 'damaged';
  const text = unpacked(folder.codec, opened.content);
  return (text === null ? null : contentIn(text)) ?? 'damaged';
}

/** Where the files of a machine are valid. */
export const placeOf = ({ id }: Pick<SharedFolder, 'id'>, machine: string): string => `${id}/${machine}`;

/** The state of a machine that was not read yet. */
export const stateOfMachine = ({ machines }: ShareState, machine: string): MachineState =>
  machines[machine] ?? NO_MACHINE;
