/** The entry of one package in `package-lock.json`. */
interface Entry {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly inBundle?: boolean;
  readonly link?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The part of `package-lock.json` that is checked: each package by its folder, the project itself by ''. */
export interface LockFile {
  readonly packages: Readonly<Record<string, Entry>>;
}

/**
 * The faults that would make `npm ci` fail on some platform, or tie the project to one registry: an optional package without an entry, a package
 * without its integrity, the address of a host. A sentence for each.
 */
export function lockFaults({ packages }: LockFile): readonly string[] {
  return Object.entries(packages).flatMap(([folder, entry]) => [
    ...missing(folder, entry, packages),
    ...(isFetched(folder, entry) && entry.integrity === undefined ? [`'${folder}' has no integrity.`] : []),
    ...(/^[a-z+]+:\/\//.test(entry.resolved ?? '') ? [`'${folder}' names a host: ${entry.resolved}`] : []),
  ]);
}

function missing(folder: string, { optionalDependencies = {} }: Entry, packages: LockFile['packages']): string[] {
  return Object.keys(optionalDependencies)
    .filter((name) => !places(folder, name).some((place) => place in packages))
    .map((name) => `'${name}' has no entry, an optional dependency of '${folder}'.`);
}

/** The places where Node searches for a package that is imported in a folder: there, then in each folder above. */
function places(folder: string, name: string): readonly string[] {
  const own = folder === '' ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
  const above = folder.lastIndexOf('node_modules/');
  return above < 0 ? [own] : [own, ...places(folder.slice(0, above).replace(/\/$/, ''), name)];
}

function isFetched(folder: string, { inBundle, link }: Entry): boolean {
  return folder !== '' && !inBundle && !link;
}
