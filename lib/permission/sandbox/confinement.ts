import { dirname } from 'node:path';
import { HiError } from '../../errors.js';
import { isBelow, isInside } from '../paths/resolve-path.js';
import type { Place } from '../paths/tree-places.js';
import type { CommandGrant } from '../rules/rules.js';

/**
 * A command cannot be sandboxed here, so it must not run without approval. `reason` is the same text with a remedy, for
 * the question.
 */
export class NotConfinable extends HiError {
  readonly reason: string;

  constructor(reason: string, hint: string) {
    super('config', `Not run: ${reason}.`, { hint: `${hint}.` });
    this.reason = `${reason}; ${hint.charAt(0).toLowerCase()}${hint.slice(1)}`;
  }
}

/** One step of making the file system that a command sees. A later step covers an earlier one at the same place. */
export type Mount =
  /** The file or folder `from` (absent: the path itself), which can be read, or changed too. */
  | { readonly kind: 'read' | 'write'; readonly path: string; readonly from?: string }
  /** A symbolic link. */
  | { readonly kind: 'link'; readonly path: string; readonly to: string }
  /** An empty folder: one that stays empty, or a writable one that ends with the command. */
  | { readonly kind: 'empty' | 'scratch'; readonly path: string }
  /** What is mounted here stays, but read-only, and no mount point can be made in it any more. */
  | { readonly kind: 'seal'; readonly path: string };

/** How a command is sandboxed: it finds what is listed here, and nothing else. Links in all paths are resolved. */
export interface Confinement {
  readonly root: string;
  /** The folder that the command starts in. */
  readonly folder: string;
  /**
   * Whether it may use devices and the sockets of other programs, debug, and go on in the background: with `-y` where
   * no rule denies a place.
   */
  readonly isLoose?: boolean;
  readonly grant: CommandGrant;
  /** The mounts of what every command needs. */
  readonly system: readonly Mount[];
  /** The home folder, which is empty but for what is mounted in it; null where all of it can be seen. */
  readonly home: string | null;
  /** What it can read. */
  readonly readable: readonly Mount[];
  /** The parts of the working folder that it can read, and change if `grant.write`. */
  readonly work: readonly string[];
  /** hi's own folders and files, which it cannot see, except for `free`. */
  readonly own: readonly Place[];
  readonly free: readonly string[];
  /** What it cannot see: private and denied places. */
  readonly hidden: readonly Place[];
  /** What it can see but not change, because another program runs it later or a rule says so. */
  readonly kept: readonly string[];
  /** The same for what does not exist yet: something empty is in its place. */
  readonly missing: readonly Place[];
  /** Files that it sees with other contents: settings without the credentials in them. */
  readonly replaced: readonly { readonly path: string; readonly by: string }[];
  /**
   * An empty file, which is mounted over hidden files. Opening a device there would fail, and with it a search through
   * the folder.
   */
  readonly emptyFile: string;
  /** A folder for temporary files, for a sandbox without an empty /tmp of its own. */
  readonly temporary: string;
}

/**
 * The mounts of a confinement, in order: first all that is granted, last all that is hidden or kept, so that no grant
 * can cover these. Computed from the confinement alone, without a look at the disk.
 */
export function mountPlan(confinement: Confinement): readonly Mount[] {
  const { grant, system, home, readable, work, own, free, hidden, kept, missing, replaced, emptyFile } = confinement;
  const writable = grant.isOpen ? ['/'] : grant.write ? work : [];
  const isKept = (path: string): boolean => kept.some((folder) => isInside(folder, path));
  const files = grant.files.filter((path) => !isKept(path) && !writable.some((folder) => isInside(folder, path)));
  const granted: readonly Mount[] = [
    ...system,
    ...readable,
    ...work.map((path): Mount => ({ kind: grant.write && !isKept(path) ? 'write' : 'read', path })),
    ...files.map((path): Mount => ({ kind: 'write', path })),
  ];
  const shown = [...granted, ...free.map((path): Mount => ({ kind: 'read', path }))].flatMap(({ kind, path }) =>
    kind === 'read' || kind === 'write' ? [path] : [],
  );
  const isShown = (path: string): boolean => grant.isOpen === true || shown.some((one) => isInside(one, path));
  const isAbove = (path: string): boolean => isShown(path) || shown.some((one) => isInside(path, one));
  const unseen = outermostOf(hidden.map(({ path }) => path).filter(isAbove));
  const unseenPlaces = [
    ...new Map(hidden.filter(({ path }) => unseen.has(path)).map((place) => [place.path, place])).values(),
  ];
  const isLeft = (path: string): boolean => isShown(path) && !unseen.has(path) && !isBelow(unseen, path);
  const ownPlaces = own.filter(({ path }) => isAbove(path));
  const keptPaths = [...outermostOf(kept)].filter(isLeft).sort();
  // Nothing can be mounted in an empty folder, and nothing made in one that is read-only.
  const isGone = (path: string): boolean =>
    ownPlaces.some((place) => isInside(place.path, path)) &&
    !free.some((folder) => isInside(folder, path) || isInside(path, folder));
  const standIns = missing.filter(
    ({ path }) => isAbove(path) && !unseen.has(path) && !isBelow(unseen, path) && !isKept(path) && !isGone(path),
  );
  const last = [...unseen, ...keptPaths, ...[...ownPlaces, ...standIns].map(({ path }) => path)];
  return [
    ...granted,
    ...foldersAbove(last, writable).map((path): Mount => ({ kind: 'write', path })),
    ...keptPaths.map((path): Mount => ({ kind: 'read', path })),
    ...replaced.filter(({ path }) => isLeft(path)).map(({ path, by }): Mount => ({ kind: 'read', path, from: by })),
    ...ownPlaces.map(
      (place): Mount => (place.isFolder ? { kind: 'scratch', path: place.path } : nothing(place, emptyFile)),
    ),
    ...free.map((path): Mount => ({ kind: 'read', path })),
    ...ownPlaces.filter(({ isFolder }) => isFolder).map(seal),
    ...[...unseenPlaces.filter(({ path }) => !isGone(path)), ...standIns].map((place) => nothing(place, emptyFile)),
    ...(home === null ? [] : [seal({ path: home })]),
    ...(grant.isOpen ? [] : [seal({ path: '/' })]),
  ];
}

const seal = ({ path }: Pick<Place, 'path'>): Mount => ({ kind: 'seal', path });

const nothing = ({ path, isFolder }: Place, emptyFile: string): Mount =>
  isFolder ? { kind: 'empty', path } : { kind: 'read', path, from: emptyFile };

/** The paths that are not inside another of them. */
function outermostOf(paths: readonly string[]): ReadonlySet<string> {
  const all = new Set(paths);
  return new Set([...all].filter((path) => path === '/' || !isBelow(all, path)));
}

/**
 * The folders between the writable ones and these places, from the top: mounted over themselves, they cannot be
 * renamed, and no hidden or kept place moves away with them.
 */
function foldersAbove(paths: readonly string[], writable: readonly string[]): readonly string[] {
  const found = new Set<string>();
  for (const path of paths) {
    const top = writable.find((folder) => folder !== path && isInside(folder, path));
    if (top === undefined) continue;
    for (let above = dirname(path); above !== top && !found.has(above); above = dirname(above)) found.add(above);
  }
  return [...found].sort();
}

/** Whether a folder is one of hi's own, where no command is. */
export const isOwn = (folder: string, { own, free }: Confinement): boolean =>
  own.some(({ path }) => isInside(path, folder)) && !free.some((path) => isInside(path, folder));

/** Whether a command that starts in this folder finds it. */
export function isVisible(folder: string, { root, grant, system, readable, work, hidden }: Confinement): boolean {
  if (hidden.some(({ path }) => isInside(path, folder))) return false;
  const shown = [...readable, ...system].flatMap(({ kind, path }) => (kind === 'read' ? [path] : []));
  return grant.isOpen === true || folder === root || [...work, ...shown].some((path) => isInside(path, folder));
}
