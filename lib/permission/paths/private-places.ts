import { homedir } from 'node:os';
import { sep } from 'node:path';
import { holdsLogin, isGitFile } from './git-logins.js';
import { isInside, type ResolvedPath } from './resolve-path.js';

/** The words of a list. */
export function listed(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/**
 * Matches a whole name against any of the patterns. Names are compared in lower case, because some file systems ignore
 * case.
 */
export const anyOf = (patterns: readonly string[]): RegExp => new RegExp(`^(?:${patterns.join('|')})$`);

/** Folders that hold keys and sessions, wherever they are. */
const PRIVATE_FOLDER = anyOf([
  // Credentials for machines, clouds and clusters.
  String.raw`\.ssh|\.aws|\.azure|gcloud|\.kube|\.docker|\.terraform\.d|doctl|gh|\.putty`,
  // Key stores, password managers, encryption keys.
  String.raw`\.gnupg|\.password-store|keyrings|keychains|kwalletd|\.pki|\.?1password|bitwarden|keepassxc|keystore|sops`,
  // Wallets.
  String.raw`\.ethereum|\.electrum|\.monero|wallets`,
  // Browsers, mail and messages.
  String.raw`\.mozilla|\.thunderbird|bravesoftware|chromium|google-chrome|microsoft-edge|vivaldi`,
  String.raw`signal|discord|slack|telegramdesktop|\.mutt|\.weechat`,
  // Shell histories.
  String.raw`atuin|\.zsh_sessions|\.bash_sessions`,
]);

/** Files that hold keys by convention, wherever they are. */
const PRIVATE_FILE = anyOf([
  // Environment files. `.env.example` and its like are templates without secrets.
  String.raw`\.env(?:rc)?|\.flaskenv|\.dev\.vars(?:\..*)?`,
  String.raw`\.env\.(?!(?:example|sample|template|dist)$).+`,
  String.raw`(?!(?:example|sample|template|dist)\.)[^.].*\.env|env\.(?:local|dev|prod|test|stag(?:e|ing)|development|production)`,
  // Keys and key stores.
  String.raw`.*\.(?:pem|key|p8|p12|pfx|kdbx?|keystore|jks|ppk|asc|gpg|age)`,
  String.raw`id_(?:rsa|dsa|ecdsa|ed25519)(?:_.*)?|ssh_host_\w+_key|key[34]\.db|wallet\.dat|private[-_.]?key.*`,
  // Credentials of programs.
  String.raw`[._]netrc|\.(?:npmrc|pypirc|pgpass|my\.cnf|mylogin\.cnf|vault-token|s3cfg|boto|dockercfg|authinfo|databrickscfg|xauthority)`,
  String.raw`\.(?:git-credentials|htpasswd|smbcredentials|msmtprc|mbsyncrc|fetchmailrc|offlineimaprc|getmailrc|muttrc|curlrc|wgetrc)`,
  String.raw`\.(?:sentryclirc|terraformrc|tfrc|iceauthority|claude\.json|vault[-_]?pass(?:word)?(?:\.txt)?)`,
  String.raw`rclone\.conf|auth\.json|pip\.(?:conf|ini)|gradle\.properties|kaggle\.json|ngrok\.ya?ml|fish_variables|nuget\.config`,
  // VPN profiles, and the state of Terraform, which has secrets in plain text.
  String.raw`.*\.ovpn|.*\.tfstate(?:\.backup)?|.*\.tfvars`,
  // Histories of shells and of other programs with a prompt: keys are typed there.
  String.raw`\.[\w.-]*(?:history|histfile|hst)|(?:fish|consolehost)_history(?:\.txt)?|\.viminfo|.*\.shada`,
  String.raw`\.?credentials?(?:\.clj)?`,
  // System accounts.
  'g?shadow-?|sudoers',
]);

/** Words in a name that say the file is a secret, if it is a data file. Code and prose about secrets may be read. */
const SECRET_WORD =
  /(?:^|[._-])(?:credentials?|creds|secrets?|passwords?|passphrase|api[-_]?keys?|private[-_]?keys?|service[-_]?account(?:[-_]?key)?|(?:(?:access|api|auth|id|oauth|refresh)[-_]?)?token)(?=[._-])/;
const DATA_FILE = /\.(?:json|jsonc|ya?ml|toml|ini|cfg|conf|config|xml|txt|properties|csv|plist|env|bak|old)$/;

/** System files with keys and passwords, which hi could read when it runs as root. */
export const SYSTEM_PLACES = listed(`
  /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/security/opasswd /etc/ssl/private
  /etc/pki/tls/private /etc/letsencrypt /etc/krb5.keytab /etc/docker/key.json /etc/NetworkManager/system-connections /etc/wireguard
  /etc/openvpn /etc/ipsec.secrets /etc/ipsec.d/private /etc/ppp/chap-secrets /etc/ppp/pap-secrets /etc/wpa_supplicant
  /etc/rancher /etc/kubernetes /run/secrets /var/run/secrets /var/spool/cron /var/mail /var/spool/mail /var/lib/docker
  /var/lib/kubelet /var/backups /var/db/dslocal /private/etc/master.passwd /private/var/db/dslocal`);

/** Words in the name of a settings file that mean it contains credentials. */
const SETTINGS_WORD =
  /credential|creds|secret|passw|token|oauth|cookie|(?<![a-z])(?:api_?)?keys?(?![a-z])|(?<![a-z])auth(?![a-z])|(?<![a-z])(?:sessions?|logins?|accounts?|wallets?|sso|identity|history|hosts|apps|id)(?:\.[a-z]+)?$/;
/** The name of a data file: with one of these extensions, or with none. */
const SETTINGS_DATA =
  /^\.?[^.]*$|\.(?:json|ya?ml|toml|ini|conf|cfg|config|properties|xml|txt|db|sqlite|dat|gcfg|plist)$/;

/** The main settings file of a program, where programs that log in keep their key. */
const MAIN_SETTINGS = anyOf([
  String.raw`(?:config|settings|cli|profiles|connections|hosts)(?:\.(?:json|ya?ml|toml|ini|conf|cfg|config|xml))?`,
]);

/**
 * Settings files outside of a folder: of GitHub's `hub`, and of yarn in the home folder (a project's own is shared).
 */
const LONE_SETTINGS = /^(?:hub|\.yarnrc\.ya?ml)$/;

/** Programs whose settings hold no key and are needed to build and to commit. */
const WITHOUT_KEYS = new Set(
  '.cargo .rustup .nvm .fnm .volta .pyenv .rbenv .asdf .sdkman .bun .deno .git git nvim vim fontconfig htop'.split(' '),
);

/**
 * Why this path is never accessed without asking, as the end of a sentence; null for an ordinary one. `ownPlaces` are
 * hi's own folders and files.
 */
export function privateReason(place: ResolvedPath, ownPlaces: readonly string[]): string | null {
  if (place.real === null) return 'it is unclear where this path leads';
  if (isOwnPlace(place, ownPlaces)) return OWN_PLACE;
  for (const path of [place.absolute, place.real]) {
    if (isKernelInterface(path)) return 'it exposes the memory or environment of processes, or a device';
    if (isPrivatePath(path)) return 'it is a private place, where keys are kept';
    if (isGitFile(path) && holdsLogin(path)) return 'it contains credentials';
  }
  return null;
}

export const OWN_PLACE = "it is hi's own configuration or history";

/** Whether the path is in one of hi's own folders and files, as it is written or where it leads. */
export const isOwnPlace = ({ absolute, real }: ResolvedPath, ownPlaces: readonly string[]): boolean =>
  [absolute, real ?? absolute].some((path) => ownPlaces.some((folder) => isInside(folder, path)));

/**
 * Whether this absolute path holds keys, credentials or a shell history, judging by its name and the folders above it.
 */
export function isPrivatePath(path: string): boolean {
  if (SYSTEM_PLACES.some((place) => path === place || path.startsWith(`${place}/`))) return true;
  const steps = path.toLowerCase().split(sep);
  return steps.some((step) => PRIVATE_FOLDER.test(step)) || isPrivateName(steps.at(-1) ?? '') || isLogIn(path);
}

const isPrivateName = (name: string): boolean =>
  PRIVATE_FILE.test(name) || (DATA_FILE.test(name) && SECRET_WORD.test(name));

/** Whether the path is a settings file under a name where programs keep credentials. */
function isLogIn(path: string): boolean {
  const inside = withinSettings(path);
  if (inside === null) return false;
  if (inside.length === 1 && LONE_SETTINGS.test(inside[0] ?? '')) return true;
  const [program = '', ...below] = inside;
  const name = below.at(-1) ?? '';
  if (WITHOUT_KEYS.has(program) || inside.includes('node_modules') || inside.includes('site-packages')) return false;
  if (below.length === 1 && MAIN_SETTINGS.test(name)) return true;
  return SETTINGS_DATA.test(name) && SETTINGS_WORD.test(name);
}

/** The segments below the folder of all settings, in lower case: ['gh', 'hosts.yml'] for ~/.config/gh/hosts.yml. */
function withinSettings(path: string): readonly string[] | null {
  const small = path.toLowerCase();
  const within =
    /\/(?:\.config|\.local\/(?:share|state)|\.cache|library\/application support|library\/preferences)\//.exec(small);
  if (within !== null) return small.slice(within.index + within[0].length).split('/');
  const hidden = /^(?:\/(?:home|users)\/[^/]+|\/root)\/(\..*)$/.exec(small)?.[1];
  if (hidden !== undefined) return hidden.split('/');
  settingsFolders ??= foldersOfSettings();
  const folder = settingsFolders.find((start) => small.startsWith(start));
  return folder === undefined ? null : small.slice(folder.lastIndexOf('/') + 1).split('/');
}

let settingsFolders: readonly string[] | null = null;

/** Settings folders that environment variables name, in lower case. */
function foldersOfSettings(): readonly string[] {
  const { XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME } = process.env;
  const named = [XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME].flatMap((folder) => (folder ? [`${folder}/`] : []));
  return [...named, `${homedir()}/.`].map((start) => start.toLowerCase());
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

/** Whether a device is safe to read and write. */
export function isHarmlessDevice(path: string): boolean {
  return /^\/dev\/(null|zero|full|u?random|std(in|out|err))$/.test(path);
}
