import type { OAuthFile, ServerFile, ServersFile } from '../../config/server-settings.js';
import { shortHash } from './tool-names.js';

/** How to reach a server. The values are as written, before variables and commands are resolved. */
export type ServerAddress =
  | {
      readonly kind: 'process';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string | null;
      /** It runs in a sandbox, where it may read these files and folders outside of the working folder. */
      readonly sandbox?: true;
      readonly read?: readonly string[];
    }
  | {
      readonly kind: 'http';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** The older form, with one stream for all answers. */
      readonly isOld: boolean;
    };

/** A configured server. */
export interface ServerEntry {
  readonly name: string;
  readonly address: ServerAddress;
  readonly only: readonly string[] | null;
  readonly not: readonly string[];
  /** How long it may be silent during a call, and take to start, in milliseconds. */
  readonly timeout: number;
  readonly startTimeout: number;
  /** Login settings; empty if the server provides everything. */
  readonly oauth: OAuthFile;
  /** Whether it comes from a project. If so, commands in its values are not run. */
  readonly isOfProject: boolean;
  /** Identifies the configuration: a different one of the same name is a different server. */
  readonly key: string;
}

/** The servers that are configured and enabled, and problems with others. */
export interface ReadServers {
  readonly entries: readonly ServerEntry[];
  readonly problems: readonly string[];
}

const START_TIMEOUT = 10_000;

/** Reads `mcpServers`. `timeout` is the default limit of calls. */
export function readServers(servers: ServersFile, timeout: number, isOfProject = false): ReadServers {
  const entries: ServerEntry[] = [];
  const problems: string[] = [];
  for (const [name, file] of Object.entries(servers)) {
    if (file.enabled === false || file.disabled === true) continue;
    const address = addressOf(file);
    if (typeof address === 'string') problems.push(`The server '${name}' in mcpServers ${address}`);
    else entries.push(entryOf(name, file, address, timeout, isOfProject));
  }
  return { entries, problems };
}

function entryOf(
  name: string,
  file: ServerFile,
  address: ServerAddress,
  timeout: number,
  isOfProject: boolean,
): ServerEntry {
  const { tools = {}, oauth = {}, timeout_ms = timeout, start_timeout_ms = START_TIMEOUT } = file;
  return {
    name,
    address,
    only: tools.only ?? null,
    not: tools.not ?? [],
    timeout: timeout_ms,
    startTimeout: start_timeout_ms,
    oauth,
    isOfProject,
    key: keyOf(address),
  };
}

/** The address, or what is wrong with it, as the end of a sentence. */
function addressOf(file: ServerFile): ServerAddress | string {
  const { type, command, args = [], env = {}, cwd, url, headers = {}, sandbox, read = [] } = file;
  if (command !== undefined && url !== undefined) return 'has both command and url; keep one of them.';
  if (url !== undefined && sandbox === true)
    return 'has sandbox, which is for programs, and a url; remove one of them.';
  if (read.length > 0 && sandbox !== true) return 'has read, which is for servers with "sandbox": true.';
  if (command !== undefined)
    return {
      ...{ kind: 'process', command, args, env, cwd: cwd ?? null },
      ...(sandbox === true && { sandbox }),
      ...(read.length > 0 && { read }),
    };
  if (url !== undefined) return { kind: 'http', url, headers, isOld: type === 'sse' };
  return 'has neither command nor url.';
}

/** A hash of the configuration. It is not a secret; it has two halves to avoid accidental collisions. */
function keyOf(address: ServerAddress): string {
  const text = JSON.stringify(address);
  return shortHash(text) + shortHash(`${text.length}${text}`);
}
