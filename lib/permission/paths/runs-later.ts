import { homedir } from 'node:os';
import { basename, join, relative, sep } from 'node:path';
import { entriesOf } from './git-logins.js';
import { isNamedByGit, isRepositoryFolder } from './git-places.js';
import { anyOf } from './private-places.js';
import { isBelow, isInside, isThere, lstatOrNull, type ResolvedPath, realPath } from './resolve-path.js';

/** The folders and files in which version control systems keep a working copy's settings and hooks. */
const REPOSITORY = anyOf([String.raw`\.(?:git|hg|svn|jj|sl|bzr|pijul)|_darcs|\.fslckout|_fossil_|\.fossil-settings`]);

/**
 * Hidden names are those of settings, from which shells, editors, agents and hooks run something when a folder is
 * entered, opened or committed in. Nobody knows them all, so every hidden name counts but these: of data, and of what
 * builds and tests leave.
 */
const HIDDEN_DATA = anyOf([
  // Lists of what to leave out, templates, locks, caches, temporary files, and what hi renamed.
  String.raw`\..*(?:ignore|ignore-revs|keep|cache|lock|\.lock\.\w+|\.tmp|\.sw[a-z]|~|\.set-aside-\d+)|\.env\.(?:example|sample|template|dist)`,
  String.raw`\.(?:editorconfig|mailmap|ds_store|nojekyll|htaccess|well-known|yarn|pnp\..*|pnpm-(?:store|debug\.log))`,
  // Of tests and environments.
  String.raw`\.(?:coverage.*|nyc_output|pytest_.*|tox|nox|venv|hypothesis|ipynb_checkpoints|eggs|phpunit\..*|rspec_status|testmondata.*)`,
  // Of frameworks and hosts.
  String.raw`\.(?:next|nuxt|output|svelte-kit|angular|astro|turbo|nx|vite|docusaurus|expo|vercel|netlify|wrangler|serverless|terraform)`,
  // Of compilers and build systems.
  String.raw`\.(?:gradle|kotlin|build|dart_tool|stack-work|bloop|metals|cpcache|elixir_ls|zig-.*|cmake|ninja_.*|deps|libs|dirstamp|depend)`,
  String.raw`\.(?:fingerprint|cargo(?:[-_].*)|rustc_info\.json|tsbuildinfo|buildinfo|doctrees|stamp.*|.+\.(?:o|o\.d|cmd|t?po))`,
]);

/** Other files and folders from which a program runs something, or takes orders, without being told to. */
const RUNS_LATER = anyOf([
  // Hooks and tasks.
  String.raw`lefthook(?:-local)?\.(?:ya?ml|toml|json)|captainhook\.json|grumphp\.ya?ml(?:\.dist)?|prek\.toml|(?:mise|rtx)(?:\..*)?\.toml`,
  // Editors and agents.
  String.raw`.*\.(?:code-workspace|sublime-project|sublime-workspace|nvim\.lua)|init\.(?:lua|vim|el)`,
  String.raw`(?:opencode|crush)\.jsonc?|(?:agents|claude|gemini|qwen|crush|warp)(?:\.\w+)?\.md`,
  // Environments of Python, which editors activate in their terminals.
  String.raw`activate(?:_this)?(?:\.(?:fish|csh|nu|ps1|bat|xsh|py))?`,
  // Shells, timers, services, and who may log in.
  String.raw`.*profile\.ps1|config\.fish|crontab|authorized_keys|known_hosts|autostart|systemd|launchagents|launchdaemons|cron\.d|conf\.d|fish`,
]);

/** Folders with the files of others or of the compiler: hidden names there are not read from. */
const DEPENDENCIES = new Set(['node_modules', 'site-packages', 'dist-packages', 'vendor', 'target', '_build']);

/** Parts of a folder of data that are run. */
const RUN_IN_DATA = /\/\.yarn\/(?:releases|plugins)$/;

/** Whether a version control system takes its settings from a file or folder of this name. */
export const isRepository = (name: string): boolean => REPOSITORY.test(name.toLowerCase());

/**
 * Whether another program later runs this file, or something in this folder, without being told to: by its own name.
 */
export function runsLater(path: string): boolean {
  const name = basename(path).toLowerCase();
  if (isRepository(name) || RUNS_LATER.test(name) || RUN_IN_DATA.test(path.toLowerCase())) return true;
  return /^\.+[^.]/.test(name) && !HIDDEN_DATA.test(name) && !path.split(sep).some((step) => DEPENDENCIES.has(step));
}

/**
 * Whether another program would later run what is written there, as the end of a sentence; null for an ordinary place.
 * `root` is the working folder: where it is itself does not matter.
 */
export async function runsLaterReason(
  { absolute, real }: ResolvedPath,
  root: string,
  signal?: AbortSignal,
): Promise<string | null> {
  const paths = [...new Set([absolute, real ?? absolute])];
  const linked = linkedSettings(root);
  const isRunLater = paths.some((path) => {
    if (linked.some((place) => isInside(place, path))) return true;
    const top = [root, homedir()].find((folder) => isInside(folder, path)) ?? '/';
    return placesTo(path, top).some(({ place, below }) => runsLater(below) || isBareWith(place, path));
  });
  return isRunLater || (await isNamedByGit(paths, root, signal)) ? 'what is written there may run later' : null;
}

/**
 * Where links among the settings of the home folder lead in `root`: `~/.bashrc` and `~/.config/fish` are often in a
 * repository of the user's.
 */
export function linkedSettings(root: string): readonly string[] {
  const [home, settings] = [entriesOf(homedir()), entriesOf(join(homedir(), '.config'))];
  const below = settings
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => entriesOf(join(homedir(), '.config', name)));
  return [...home.filter(({ name }) => name.startsWith('.')), ...settings, ...below]
    .filter((entry) => entry.isSymbolicLink())
    .map(({ parentPath, name }) => realPath(join(parentPath, name)))
    .filter((path) => path !== root && isInside(root, path));
}

/** The folders from `top` down to the path, and the path itself; with the part of each below `top`. */
function placesTo(path: string, top: string): readonly { readonly place: string; readonly below: string }[] {
  const steps = relative(top, path)
    .split(sep)
    .filter((step) => step !== '' && step !== '.' && step !== '..');
  return [{ place: top, below: '/' }].concat(
    steps.map((_, index) => {
      const below = `/${steps.slice(0, index + 1).join('/')}`;
      return { place: join(top, below), below };
    }),
  );
}

/**
 * Whether git takes its settings from this folder, or will once the path in it is written: a bare repository. With
 * `commondir` the objects are elsewhere.
 */
function isBareWith(folder: string, path: string): boolean {
  if (!isInside(folder, path)) return false;
  const [written = ''] = relative(folder, path).toLowerCase().split(sep);
  const has = (name: string): boolean => written === name.toLowerCase() || isThere(join(folder, name));
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')));
}

/**
 * 40 mounts of a sandbox take 7 ms, 100 take 25 ms, 200 take 80 ms and 1000 two seconds, and a tree may have thousands
 * of such places.
 */
const MOST_MOUNTS = 40;

/**
 * Those that a sandbox mounts read-only one by one: repositories, which may change by themselves, links, which it
 * refuses, and of the others the nearest, because `paths` are sorted by their depth. What is left is compared when the
 * command has ended.
 */
export function mountedFirst(paths: readonly string[]): readonly string[] {
  const mounted = new Set<string>();
  let count = 0;
  for (const path of paths) {
    const isNeeded = isRepositoryFolder(path) || isRepository(basename(path)) || isLink(path);
    if (!isNeeded && (count >= MOST_MOUNTS || isBelow(mounted, path))) continue;
    mounted.add(path);
    if (!isNeeded) count += 1;
  }
  return [...mounted];
}

const isLink = (path: string): boolean => lstatOrNull(path)?.isSymbolicLink() === true;
