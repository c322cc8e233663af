import { stat } from 'node:fs/promises';
import { excessOf, isStackOverflow } from './access.js';
import type { JudgeContext } from './paths/judge-path.js';
import { foldersOf, scriptFiles } from './paths/path-words.js';
import { absolutePath } from './paths/resolve-path.js';
import { isDistinctiveSecret } from './secrets.js';
import { readCommand } from './shell/read-command.js';

/**
 * The names of the variables that every command gets if they are set: user, locale, terminal, time zone, network, and
 * where tools are.
 */
const USUAL = new RegExp(
  `^(?:${[
    'PATH|HOME|USER|LOGNAME|SHELL|HOSTNAME|PWD|TZ|TMPDIR|TMP|TEMP|XDG_[A-Z_]+|HI_COMMAND',
    'LANG|LANGUAGE|LC_[A-Z]+|TERM|COLORTERM|TERM_PROGRAM|NO_COLOR|FORCE_COLOR|CLICOLOR|COLUMNS|LINES',
    'EDITOR|VISUAL|PAGER|BROWSER|DISPLAY|WAYLAND_DISPLAY|CI',
    '(?:HTTPS?|ALL|NO|FTP)_PROXY|(?:https?|all|no|ftp)_proxy',
    'SSL_CERT_(?:FILE|DIR)|CURL_CA_BUNDLE|REQUESTS_CA_BUNDLE|NODE_EXTRA_CA_CERTS|GIT_SSL_CAINFO|NIX_SSL_CERT_FILE',
    'JAVA_HOME|MAVEN_HOME|M2_HOME|GRADLE_USER_HOME|ANDROID_(?:HOME|SDK_ROOT)|GO(?:PATH|ROOT|BIN|CACHE|MODCACHE)',
    'CARGO_HOME|RUSTUP_HOME|CARGO_TARGET_DIR|NVM_DIR|FNM_DIR|VOLTA_HOME|PNPM_HOME|BUN_INSTALL|DENO_DIR|NODE_(?:ENV|PATH)',
    'VIRTUAL_ENV|CONDA_(?:PREFIX|DEFAULT_ENV)|PYENV_ROOT|PYTHONPATH|RBENV_ROOT|GEM_(?:HOME|PATH)|ASDF_(?:DIR|DATA_DIR)|SDKMAN_DIR',
    'LD_LIBRARY_PATH|DYLD_LIBRARY_PATH|PKG_CONFIG_PATH|MANPATH|INFOPATH|NIX_PATH|NIX_PROFILES|HOMEBREW_[A-Z]+',
    'SYSTEMROOT|WINDIR|WSL_DISTRO_NAME',
  ].join('|')})$`,
);

/** Those that programs on Windows need besides, in capitals: names have no case there. */
const USUAL_ON_WINDOWS =
  /^(?:APPDATA|LOCALAPPDATA|COMSPEC|HOMEDRIVE|HOMEPATH|NUMBER_OF_PROCESSORS|OS|PATHEXT|PROCESSOR_ARCHITECTURE|PROGRAMDATA|PROGRAMFILES(?:\(X86\))?|PROGRAMW6432|PUBLIC|SYSTEMDRIVE|USERDOMAIN|USERNAME|USERPROFILE)$/;

/** Variables that make bash run, find or trace something that is not in the command. No command gets them. */
const SHELL_SETTINGS =
  /^(BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|CDPATH|GLOBIGNORE|IFS|EXECIGNORE|BASH_XTRACEFD|BASH_FUNC_.*)$/;

/** A name and password in a URL, of a proxy for example. */
const LOGIN = /:\/\/[^/\s@:]*:[^/\s@]+@/;

/**
 * The environment of a command of the model: the usual variables and those in `named` (`tools.env` of the
 * configuration), never one that contains one of `secrets`, and none that changes how bash reads the command. Usual
 * variables with credentials in a URL are left out. If `named` is `all`, for a command of the user's own, it gets the
 * user's environment.
 */
export function commandEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  secrets: readonly string[] = [],
  named: readonly string[] | 'all' = [],
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const isWindows = platform === 'win32';
  const isUsual = (name: string): boolean =>
    USUAL.test(name) || (isWindows && [USUAL, USUAL_ON_WINDOWS].some((names) => names.test(name.toUpperCase())));
  const isPassed = (name: string, value: string): boolean => {
    if (SHELL_SETTINGS.test(name)) return false;
    if (named === 'all') return true;
    if (secrets.some((secret) => holds(value, secret))) return false;
    return named.includes(name) || (isUsual(name) && !LOGIN.test(value));
  };
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && isPassed(name, value)) kept[isWindows && name === 'Path' ? 'PATH' : name] = value;
  // There is no terminal, so programs must neither draw on it nor wait for input.
  return { ...kept, TERM: 'dumb', GIT_TERMINAL_PROMPT: '0' };
}

const holds = (value: string, secret: string): boolean =>
  value === secret || (isDistinctiveSecret(secret) && value.includes(secret));

/** The scripts that a command names, each with a stamp that differs when its content does. */
export type ScriptStamps = ReadonlyMap<string, string>;

/** Stamps the scripts that a command names, so that what runs is what the user could look at. Never throws. */
export async function scriptStamps(
  command: string,
  context: Pick<JudgeContext, 'env' | 'shell' | 'workingFolder'>,
): Promise<ScriptStamps> {
  const names = await namesIn(command, context);
  return new Map(await Promise.all(names.map(async (path): Promise<[string, string]> => [path, await stampOf(path)])));
}

/** The first script that has changed; null if none has. */
export function changedScript(before: ScriptStamps, after: ScriptStamps): string | null {
  return [...before].find(([path, stamp]) => after.get(path) !== stamp)?.[0] ?? null;
}

async function namesIn(
  command: string,
  { env, shell, workingFolder }: Pick<JudgeContext, 'env' | 'shell' | 'workingFolder'>,
): Promise<readonly string[]> {
  if (excessOf(command) !== null) return [];
  try {
    const { parts } = await readCommand(command, env, shell);
    const folders = foldersOf(parts, workingFolder).folders ?? [workingFolder];
    return [
      ...new Set(
        scriptFiles(parts).flatMap((name) =>
          folders.map((folder) => absolutePath(name, folder).replaceAll('/./', '/')),
        ),
      ),
    ].slice(0, MOST_SCRIPTS);
  } catch (failure) {
    if (!isStackOverflow(failure)) throw failure;
    return [];
  }
}

const MOST_SCRIPTS = 100;

/** Size and times distinguish contents; the time of the last change (ctime) cannot be set back. */
async function stampOf(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch {
    return '';
  }
}
