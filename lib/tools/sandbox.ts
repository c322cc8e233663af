import { execFile } from 'node:child_process';
import { existsSync, lstatSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { HiError } from '../errors.js';
import { isInside, locate } from './places.js';
import type { SandboxSettings, ToolContext } from './tool.js';

/** Where keys are kept by custom, below the home folder. A command in the sandbox finds nothing there. */
const PRIVATE =
  '.ssh .gnupg .aws .azure .kube .docker .password-store .netrc .npmrc .pypirc .pgpass .git-credentials .mozilla .config/gcloud .config/gh .config/google-chrome .config/chromium .local/share/keyrings'.split(
    ' ',
  );

/** What would run outside the sandbox later, in a working folder that may be written. */
const LATER = ['.git/hooks', '.git/config', '.husky'];

/** Settings of the kernel and its devices, which root could change without any capability. */
const KERNEL = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs'];

/** Folders that are new and empty for each command. The sockets of other programs (Docker, D-Bus) are in /run. */
const FRESH = ['/tmp', '/var/tmp', '/run'];

/**
 * The program and arguments to put before a command, so that it writes only in the working folder and reaches no network unless
 * allowed. Throws a `HiError` where that cannot be had: a command never runs without the sandbox it was promised.
 */
export async function sandboxWrapper(settings: SandboxSettings, context: ToolContext): Promise<readonly string[]> {
  const root = (await locate(context.root, '/')).real ?? context.root;
  if (root === '/')
    throw new HiError('config', 'The sandbox is on, but the working folder is the whole disk.', {
      hint: 'Start hi in a folder, or set tools.sandbox to false.',
    });
  const wall = [...closed(root), ...hidden(settings, root), ...(settings.network ? network() : ['--unshare-net'])];
  works ??= tryOut(wall);
  await works;
  const { workingFolder } = context;
  const isThere = isInside(root, workingFolder) || !FRESH.some((folder) => isInside(folder, workingFolder));
  return ['bwrap', ...wall, '--chdir', isThere ? workingFolder : root, '--'];
}

let works: Promise<void> | null = null;

/** The system as it is, but not to be written; the working folder as it is. */
function closed(root: string): readonly string[] {
  const later = LATER.map((name) => join(root, name)).filter((path) => existsSync(path));
  const kernel = KERNEL.filter((path) => existsSync(path));
  return [
    ...['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...kernel.flatMap((path) => ['--ro-bind', path, path]),
    ...FRESH.filter((folder) => existsSync(folder)).flatMap((folder) => ['--tmpfs', folder]),
    ...['--bind', root, root],
    ...repository(join(root, '.git')),
    ...later.flatMap((path) => ['--ro-bind', path, path]),
    ...['--setenv', 'TMPDIR', '/tmp'],
  ];
}

/** What is mounted cannot be moved away, to put another in its place. A file tells where the repository is. */
function repository(path: string): readonly string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return [];
  if (!found.isDirectory()) return ['--ro-bind', path, path];
  const hooks = join(path, 'hooks');
  return ['--bind', path, path, ...(existsSync(hooks) ? [] : ['--tmpfs', hooks, '--remount-ro', hooks])];
}

function hidden(settings: SandboxSettings, root: string): readonly string[] {
  const places = [...PRIVATE.map((name) => join(homedir(), name)), ...settings.hidden];
  return places
    .filter((path) => existsSync(path) && !isInside(path, root))
    .flatMap((path) => (statSync(path).isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path]));
}

/** Names are looked up by a service whose files are in /run. */
function network(): readonly string[] {
  const resolver = '/run/systemd/resolve';
  return existsSync(resolver) ? ['--ro-bind', resolver, resolver] : [];
}

function tryOut(wall: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile('bwrap', [...wall, '--', 'true'], (failure, _output, errors) => {
      if (failure === null) resolve();
      else {
        works = null;
        const why = failure.code === 'ENOENT' ? 'it is not installed' : errors.trim() || failure.message;
        reject(
          new HiError(
            'config',
            `Not run: the sandbox is on (tools.sandbox), but bubblewrap cannot be used here: ${why}.`,
            {
              hint: 'The user can install it (Debian: apt install bubblewrap) or set tools.sandbox to false.',
            },
          ),
        );
      }
    });
  });
}
