import { HiError } from '../../errors.js';
import { type Exclusive, LoginFile } from '../auth/login-file.js';
import { SessionLogin } from '../auth/session-login.js';
import type { Elicit } from '../base/elicitation.js';
import type { ServerEntry } from '../base/server-entry.js';
import type { Destination } from './client-adapter.js';
import type { ConfinedProgram, ServerLog } from './spawn-server.js';

/** The variables that every server gets, as in the SDK. None of them holds a key. */
const USUAL_VARIABLES = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];

/** The same on Windows, where programs do not find their folders without them. */
const WINDOWS_VARIABLES = [
  ...['APPDATA', 'COMSPEC', 'HOMEDRIVE', 'HOMEPATH', 'LOCALAPPDATA', 'PATH', 'PATHEXT', 'PROCESSOR_ARCHITECTURE'],
  ...['PROGRAMDATA', 'PROGRAMFILES', 'SYSTEMDRIVE', 'SYSTEMROOT', 'TEMP', 'TMP', 'USERNAME', 'USERPROFILE', 'WINDIR'],
];

/** Resolves every value of a server's entry. Throws a `HiError`. */
export async function destinationOf(entry: ServerEntry, deps: ConnectionDeps, log: ServerLog): Promise<Destination> {
  const { address } = entry;
  const { cwd, home } = deps;
  const values = valuesOf(entry, deps);
  if (address.kind === 'http') {
    const [url, headers] = [await lookUp(address.url, values), await lookUpAll(address.headers, values)];
    deps.allow(url, headers);
    return { ...address, url, headers, environment: values.env, login: loginAt(url, headers, entry, deps) };
  }
  const [command, folder, ...args] = await Promise.all(
    [address.command, address.cwd ?? cwd, ...address.args].map((value) => lookUp(value, values)),
  );
  const at = atHome(folder ?? cwd, home);
  return {
    kind: 'process',
    command: atHome(command ?? '', home),
    args,
    env: { ...usualVariables(deps.values.env), ...(await lookUpAll(address.env, values)) },
    cwd: at,
    log,
    confine: address.sandbox === true ? () => deps.confine(at, address.read ?? []) : null,
  };
}

/** How the values of an entry are resolved. Commands from a project are never run. */
export const valuesOf = ({ isOfProject }: ServerEntry, { values }: Pick<ConnectionDeps, 'values'>): Values =>
  isOfProject ? { ...values, run: refuseToRun } : values;

/** The login for a server whose entry has no credentials. */
function loginAt(
  url: string,
  headers: Readonly<Record<string, string>>,
  { name }: ServerEntry,
  { logins, exclusively, values }: ConnectionDeps,
): SessionLogin | null {
  if (Object.keys(headers).some((header) => header.toLowerCase() === 'authorization')) return null;
  return new SessionLogin(name, url, new LoginFile(logins, name, exclusively), values.env);
}

/** What every server gets of an environment. Its names have no case on Windows. */
export function usualVariables(
  env: Values['env'],
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const isWindows = platform === 'win32';
  const names = isWindows ? WINDOWS_VARIABLES : USUAL_VARIABLES;
  const kept: Record<string, string> = {};
  for (const [given, value] of Object.entries(env)) {
    const name = isWindows ? given.toUpperCase() : given;
    if (value !== undefined && names.includes(name)) kept[name] = value;
  }
  return kept;
}

const atHome = (path: string, home: string): string => (path.startsWith('~/') ? home + path.slice(1) : path);

async function refuseToRun(command: string): Promise<never> {
  throw new HiError('config', `A project's server cannot run commands for its values: '!${command}'.`, {
    hint: "Configure the server yourself, with 'hi mcp add'.",
  });
}

/** Where values come from. */
export interface Values {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Runs the command of a value such as `"!pass show github"` and resolves to its first line. */
  run(command: string): Promise<string>;
}

const VARIABLE = /\$\{([^${}]*)\}/g;

/**
 * Resolves a value: `"!command"` becomes the command's output, `${NAME}` an environment variable, `${NAME:-other}` one
 * with a default. Throws a `HiError` that names a variable that is not set.
 */
export async function lookUp(value: string, { env, run }: Values): Promise<string> {
  if (value.startsWith('!')) return await run(value.slice(1));
  return value.replace(VARIABLE, (_, inner: string) => {
    const [name = '', ...rest] = inner.split(':-');
    const otherwise = rest.length === 0 ? undefined : rest.join(':-');
    const found = env[name] || otherwise;
    if (found !== undefined) return found;
    throw new HiError('config', `The environment variable ${name} is not set.`, {
      hint: `Set it, or write \${${name}:-VALUE} in mcpServers.`,
    });
  });
}

/** All values of an object in the same way. */
export async function lookUpAll(
  values: Readonly<Record<string, string>>,
  source: Values,
): Promise<Record<string, string>> {
  const found = await Promise.all(
    Object.entries(values).map(async ([name, value]) => [name, await lookUp(value, source)] as const),
  );
  return Object.fromEntries(found);
}

/** What every connection of a session needs. */
export interface ConnectionDeps {
  readonly values: Values;
  /** Throws if these headers must not be sent to that address. */
  allow(url: string, headers: Readonly<Record<string, string>>): void;
  /** Sandboxes a program that runs in this folder. Throws a `HiError` if that is impossible. */
  confine(folder: string, read: readonly string[]): Promise<ConfinedProgram>;
  /** The default working folder of servers. */
  readonly cwd: string;
  readonly home: string;
  readonly version: string;
  /** Where the logs are. */
  readonly logs: string;
  /** Asks the user a server's question. Absent if nobody can be asked. */
  readonly elicit?: Elicit;
  /** Whether to subscribe to changes, which only long sessions need. */
  readonly listens?: boolean;
  /** The folder of the logins and their locks. */
  readonly logins: string;
  readonly exclusively: Exclusive;
}
