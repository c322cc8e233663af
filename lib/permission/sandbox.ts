import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { HiError } from '../errors.js';
import { deferredExecutionMounts } from './deferred-execution.js';
import { isInside, locate } from './paths/resolve-path.js';

/** How commands are confined (`tools.sandbox`). */
export interface SandboxSettings {
  /** Whether commands may use the network. */
  readonly network: boolean;
  /** Folders and files that commands do not see, in addition to the usual places of keys. */
  readonly hidden: readonly string[];
}

/** The usual places of keys in the home folder. They are empty in the sandbox. */
const KEY_PLACES =
  '.ssh .gnupg .aws .azure .kube .docker .password-store .netrc .npmrc .pypirc .pgpass .git-credentials .mozilla .thunderbird .terraform.d .vault-token .cargo/credentials.toml .config/gcloud .config/gh .config/google-chrome .config/chromium .config/BraveSoftware .local/share/keyrings'.split(
    ' ',
  );

/** Settings of the kernel and its devices, which root can change without any capability. */
const KERNEL_SETTINGS = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs'];

/** Folders that are new and empty for each command. /run has the sockets of other programs (Docker, D-Bus). */
const EMPTY_FOLDERS = ['/tmp', '/var/tmp', '/run'];

/**
 * The program and arguments to put before a command, so that it writes only in the working folder and reaches no network unless
 * allowed. Throws a `HiError` where the sandbox does not work: a command never runs without the sandbox that is configured.
 */
export async function sandboxWrapper(
  settings: SandboxSettings,
  context: { readonly root: string; readonly workingFolder: string },
): Promise<readonly string[]> {
  const root = (await locate(context.root, '/')).real ?? context.root;
  if (root === '/')
    throw new HiError('config', 'tools.sandbox is on, but the working folder is the root of the file system.', {
      hint: 'Start hi in a folder, or set tools.sandbox to false.',
    });
  const sandboxOptions = [
    ...baseMounts(root),
    ...hiddenMounts(settings, root),
    ...(settings.network ? resolverMounts() : ['--unshare-net']),
  ];
  probe ??= probeSandbox(sandboxOptions);
  await probe;
  const { workingFolder } = context;
  const isVisible = isInside(root, workingFolder) || !EMPTY_FOLDERS.some((folder) => isInside(folder, workingFolder));
  return ['bwrap', ...sandboxOptions, '--chdir', isVisible ? workingFolder : root, '--'];
}

let probe: Promise<void> | null = null;

/** The system read-only, the working folder writable. */
function baseMounts(root: string): readonly string[] {
  const kernel = KERNEL_SETTINGS.filter((path) => existsSync(path));
  return [
    ...['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--cap-drop', 'ALL'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...kernel.flatMap((path) => ['--ro-bind', path, path]),
    ...EMPTY_FOLDERS.filter((folder) => existsSync(folder)).flatMap((folder) => ['--tmpfs', folder]),
    ...['--bind', root, root],
    ...deferredExecutionMounts(root),
    ...['--setenv', 'TMPDIR', '/tmp'],
  ];
}

function hiddenMounts(settings: SandboxSettings, root: string): readonly string[] {
  const places = [...KEY_PLACES.map((name) => join(homedir(), name)), ...settings.hidden];
  return places
    .filter((path) => existsSync(path) && !isInside(path, root))
    .flatMap((path) => (statSync(path).isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path]));
}

/** systemd-resolved keeps the file that /etc/resolv.conf links to in /run. */
function resolverMounts(): readonly string[] {
  const resolver = '/run/systemd/resolve';
  return existsSync(resolver) ? ['--ro-bind', resolver, resolver] : [];
}

function probeSandbox(sandboxOptions: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    execFile('bwrap', [...sandboxOptions, '--', 'true'], (failure, _output, errors) => {
      if (failure === null) resolve();
      else {
        probe = null;
        const why = failure.code === 'ENOENT' ? 'it is not installed' : errors.trim() || failure.message;
        reject(
          new HiError('config', `Not run: tools.sandbox is on, but bubblewrap cannot be used here: ${why}.`, {
            hint: 'The user can install it (Debian: apt install bubblewrap) or set tools.sandbox to false.',
          }),
        );
      }
    });
  });
}
