import { basename, sep } from 'node:path';
import { isInside, type ResolvedPath } from './resolve-path.js';

/** Folders that hold keys and sessions, wherever they are. In small letters: some file systems ignore case. */
const PRIVATE_FOLDERS = new Set([
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.password-store',
  'keyrings',
  'keychains',
  '.mozilla',
  '.thunderbird',
  '.terraform.d',
  'bravesoftware',
  'chromium',
  'gcloud',
  'gh',
  'google-chrome',
]);

/** Matches the whole of a name, in large or small letters, by any of these. */
const anyOf = (patterns: readonly string[]): RegExp => new RegExp(`^(${patterns.join('|')})$`, 'i');

/** Files that hold keys by convention. */
const PRIVATE_FILE = anyOf([
  // Environment files. `.env.example` and its like are templates without secrets.
  String.raw`\.env(rc)?`,
  String.raw`\.env\.(?!(example|sample|template|dist)$).+`,
  // Keys and key stores.
  String.raw`.*\.(pem|key|p12|pfx|kdbx|keystore|jks|ppk|asc|gpg)`,
  // OpenSSH.
  'id_(rsa|dsa|ecdsa|ed25519)(_.*)?',
  String.raw`ssh_host_\w+_key`,
  // Log-ins of programs: .netrc, npm, PyPI, PostgreSQL, MySQL, Vault, S3 tools, Docker, IMAP, Databricks, X11, rclone, git.
  '[._]netrc',
  String.raw`\.(npmrc|pypirc|pgpass|my\.cnf|mylogin\.cnf|vault-token|s3cfg|boto|dockercfg|authinfo|databrickscfg|xauthority)`,
  String.raw`rclone\.conf|auth\.json|\.git-credentials|\.htpasswd`,
  // VPN profiles, and the state of Terraform, which has secrets in plain text.
  String.raw`.*\.ovpn|.*\.tfstate(\.backup)?`,
  // Histories of shells and of other programs with a prompt: keys are typed there.
  String.raw`\.[a-z]*_history`,
  String.raw`\.?credentials(\.(json|toml|ya?ml))?`,
  String.raw`secrets?\.(json|ya?ml|toml)`,
  // Accounts of the system.
  'g?shadow-?|sudoers',
]);

/** Files that a program runs, or takes commands from, later and without asking. */
const STARTUP_FILE = anyOf([
  // Shells and readline.
  String.raw`\.bashrc|\.bash_(profile|login|logout|aliases)|\.profile`,
  String.raw`\.zshrc|\.zshenv|\.zprofile|\.zlogin|\.inputrc`,
  // git: aliases, hooks and pagers.
  String.raw`\.gitconfig|\.gitmodules`,
  // Sessions of X11, timers, and who may log in.
  String.raw`\.xprofile|\.xinitrc|crontab|authorized_keys|known_hosts`,
]);

const STARTUP_FOLDERS = new Set(['.git', '.husky', 'autostart', 'systemd', 'launchagents', 'launchdaemons', 'cron.d']);

/**
 * Why this path is never accessed without asking, as the end of a sentence; null for an ordinary one. `ownPlaces` are hi's own
 * folders and files.
 */
export function privateReason(
  place: ResolvedPath,
  kind: 'read' | 'write',
  ownPlaces: readonly string[],
): string | null {
  if (place.real === null) return 'it is unclear where this path leads';
  for (const path of [place.absolute, place.real]) {
    if (ownPlaces.some((folder) => isInside(folder, path))) return "it is hi's own configuration or history";
    if (isKernelInterface(path)) return 'it exposes the memory or environment of processes, or a device';
    const steps = path.toLowerCase().split(sep);
    if (steps.some((step) => PRIVATE_FOLDERS.has(step)) || PRIVATE_FILE.test(basename(path)))
      return 'it is a private place, where keys are kept';
    if (kind === 'write' && (steps.some((step) => STARTUP_FOLDERS.has(step)) || STARTUP_FILE.test(basename(path))))
      return 'what is written there may run later';
  }
  return null;
}

// /proc/<pid>/environ shows the keys that hi was started with, and bash opens network connections at /dev/tcp.
function isKernelInterface(path: string): boolean {
  return (
    /^\/proc\/([^/]+\/(environ|mem|fd|root|cwd|task|map_files)|k(core|mem)|sys)(\/|$)/.test(path) || isDevice(path)
  );
}

function isDevice(path: string): boolean {
  return path.startsWith('/dev/') && !isHarmlessDevice(path) && !path.startsWith('/dev/shm/');
}

/** True for devices that are safe to read and write. */
export function isHarmlessDevice(path: string): boolean {
  return /^\/dev\/(null|zero|full|u?random|std(in|out|err))$/.test(path);
}
