import { basename, sep } from 'node:path';
import { isInside, type ResolvedPath } from './resolve-path.js';

/** Folders that hold keys and sessions, wherever they are found. In small letters: some systems find them by any. */
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

/** Files that hold keys by custom. `.env.example` and its like are templates without secrets. */
const PRIVATE_FILE =
  /^(\.env(rc)?|\.env\.(?!(example|sample|template|dist)$).+|.*\.(pem|key|p12|pfx|kdbx|keystore|jks|ppk|asc|gpg)|id_(rsa|dsa|ecdsa|ed25519)(_.*)?|ssh_host_\w+_key|\.netrc|_netrc|\.npmrc|\.pypirc|\.pgpass|\.my\.cnf|\.mylogin\.cnf|\.vault-token|\.s3cfg|\.boto|\.dockercfg|\.authinfo|\.databrickscfg|\.xauthority|rclone\.conf|.*\.ovpn|.*\.tfstate(\.backup)?|auth\.json|\.git-credentials|\.htpasswd|\.[a-z]*_history|\.?credentials(\.(json|toml|ya?ml))?|secrets?\.(json|ya?ml|toml)|shadow-?|gshadow-?|sudoers)$/i;

/** What a write can turn into a command that runs later without being asked for. */
const STARTUP_FILE =
  /^(\.bashrc|\.bash_(profile|login|logout|aliases)|\.profile|\.zshrc|\.zshenv|\.zprofile|\.zlogin|\.inputrc|\.gitconfig|\.gitmodules|\.xprofile|\.xinitrc|crontab|authorized_keys|known_hosts)$/i;
const STARTUP_FOLDERS = new Set(['.git', '.husky', 'autostart', 'systemd', 'launchagents', 'launchdaemons', 'cron.d']);

/**
 * Why this place is never touched without asking, as the end of a sentence; null for an ordinary place.
 * `own` are folders and files of hi itself.
 */
export function privateReason(
  place: ResolvedPath,
  kind: 'read' | 'write',
  ownPlaces: readonly string[],
): string | null {
  if (place.real === null) return 'it cannot be told where this path leads';
  for (const path of [place.absolute, place.real]) {
    if (ownPlaces.some((folder) => isInside(folder, path))) return "it is hi's own configuration or history";
    if (isKernelInterface(path)) return 'it shows the memory or environment of processes, or speaks to a device';
    const steps = path.toLowerCase().split(sep);
    if (steps.some((step) => PRIVATE_FOLDERS.has(step)) || PRIVATE_FILE.test(basename(path)))
      return 'it is a private place, where keys are kept';
    if (kind === 'write' && (steps.some((step) => STARTUP_FOLDERS.has(step)) || STARTUP_FILE.test(basename(path))))
      return 'what is written there runs later by itself';
  }
  return null;
}

// A process reads the keys hi was started with in /proc/<pid>/environ; bash opens sockets at /dev/tcp.
function isKernelInterface(path: string): boolean {
  return (
    /^\/proc\/([^/]+\/(environ|mem|fd|root|cwd|task|map_files)|k(core|mem)|sys)(\/|$)/.test(path) || isDevice(path)
  );
}

function isDevice(path: string): boolean {
  return path.startsWith('/dev/') && !isHarmlessDevice(path) && !path.startsWith('/dev/shm/');
}

/** True for the devices that anything may be written to and read from. */
export function isHarmlessDevice(path: string): boolean {
  return /^\/dev\/(null|zero|full|u?random|std(in|out|err))$/.test(path);
}
