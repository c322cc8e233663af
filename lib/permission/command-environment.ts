import { isDistinctiveSecret } from './mask-secrets.js';

/** Names of variables that hold keys by convention: every vendor's key variable ends in one of these. */
const KEY_NAME =
  /(^|_)([A-Z]*KEYS?(_ID)?|SECRETS?(_KEY)?|TOKENS?|AUTH_?TOKEN|AUTH|PAT|PASS|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|BEARER|COOKIE|DSN)$/i;

/** Variables that make bash run, find or trace something that is not in the command. */
const SHELL_SETTINGS =
  /^(BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|CDPATH|GLOBIGNORE|IFS|EXECIGNORE|BASH_XTRACEFD|BASH_FUNC_.*)$/;

/** Prefixes of vendors' keys. */
const KEY_VALUE = /^(sk-|AIza|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|hf_|npm_|AKIA)/;

/**
 * The environment of a command: that of the process without keys (by name, by shape, and every variable that contains one of
 * `secrets`), and without the variables that change how bash reads the command.
 */
export function commandEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  secrets: readonly string[] = [],
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || isKey(name, value, secrets) || SHELL_SETTINGS.test(name)) continue;
    kept[name] = value;
  }
  // There is no terminal: programs must not draw on it or wait for input.
  return { ...kept, TERM: 'dumb', GIT_TERMINAL_PROMPT: '0' };
}

function isKey(name: string, value: string, secrets: readonly string[]): boolean {
  return (
    KEY_NAME.test(name) ||
    KEY_VALUE.test(value) ||
    secrets.some((secret) => value === secret || (isDistinctiveSecret(secret) && value.includes(secret))) ||
    /:\/\/[^/\s:@]+:[^/\s@]+@/.test(value)
  );
}
