import { minVersion, satisfies, validRange } from 'semver';

/** The dependencies that `npm ci` compares between the lock file and the project's `package.json`. */
interface Dependencies {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** The entry of one package in `package-lock.json`. */
interface Entry extends Dependencies {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly inBundle?: boolean;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
  readonly engines?: { readonly node?: string };
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
}

/** The part of `package-lock.json` that is checked: each package by its folder, the project itself by ''. */
export interface LockFile {
  readonly packages: Readonly<Record<string, Entry>>;
}

/** The part of the project's `package.json` that is compared with it. */
export interface Manifest extends Dependencies {
  readonly engines: { readonly node: string };
}

const INTEGRITY = /^sha512-[A-Za-z0-9+/]{86}==$/;

/**
 * The faults that would make `npm ci` fail or warn on some platform, or tie the project to one registry: an optional
 * package without an entry or with one of another version, a package without its integrity, for one platform only, or
 * for a newer Node, an address, a difference to `package.json`. A sentence for each.
 */
export function lockFaults({ packages }: LockFile, manifest: Manifest): readonly string[] {
  const oldest = minVersion(manifest.engines.node)?.version ?? '';
  const faults = Object.entries(packages).flatMap(([folder, entry]) => [
    ...missing(folder, entry, packages),
    ...(isFetched(folder, entry) ? packageFaults(folder, entry, oldest) : []),
    ...(entry.resolved === undefined || entry.link ? [] : [`'${folder}' names an address: ${entry.resolved}`]),
  ]);
  return [...differences(packages[''] ?? {}, manifest), ...faults];
}

function packageFaults(folder: string, entry: Entry, oldest: string): string[] {
  const { integrity, engines, optional, devOptional } = entry;
  const isOptional = optional || devOptional;
  const isForSome = [entry.os, entry.cpu, entry.libc].some((names) => names !== undefined);
  const needed = engines?.node ?? '*';
  return [
    ...(integrity === undefined ? [`'${folder}' has no integrity.`] : []),
    ...(integrity !== undefined && !INTEGRITY.test(integrity) ? [`'${folder}' has no sha512: ${integrity}`] : []),
    ...(isForSome && !isOptional ? [`'${folder}' is for some platforms only, but not optional.`] : []),
    ...(isOptional || satisfies(oldest, needed) ? [] : [`'${folder}' needs Node ${needed}, hi ${oldest}.`]),
  ];
}

function missing(folder: string, { optionalDependencies = {} }: Entry, packages: LockFile['packages']): string[] {
  return Object.entries(optionalDependencies).flatMap(([name, range]) => {
    const place = places(folder, name).find((place) => place in packages);
    if (place === undefined) return [`'${name}' has no entry, an optional dependency of '${folder}'.`];
    const version = packages[place]?.version ?? '';
    const isRight = validRange(range) === null || satisfies(version, range);
    return isRight ? [] : [`'${place}' is ${version}, but '${folder}' needs ${range}.`];
  });
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

function differences(root: Dependencies, manifest: Dependencies): string[] {
  return (['dependencies', 'devDependencies', 'optionalDependencies'] as const).flatMap((kind) => {
    const [locked, wanted] = [root[kind] ?? {}, manifest[kind] ?? {}];
    const names = new Set([...Object.keys(locked), ...Object.keys(wanted)]);
    return [...names]
      .filter((name) => locked[name] !== wanted[name])
      .map((name) => `'${name}' is ${locked[name] ?? 'not'} in it, ${wanted[name] ?? 'not'} in package.json.`);
  });
}
