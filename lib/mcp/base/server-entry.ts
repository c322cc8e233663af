import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SERVER_TOOL_PREFIX } from '../../chat/request.js';
import type { OAuthFile, ServerFile, ServersFile } from '../../config/server-settings.js';

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

/** The longest name that every vendor accepts. */
const LONGEST = 63;

/** The longest part of a name that stands for the server. */
const LONGEST_SERVER = 32;

/** How many hexadecimal digits tell a server from others whose names look the same; `HASHED` is their pattern. */
const DIGITS = 12;

/**
 * The name of a server's tool as the model knows it: `mcp__SERVER__TOOL`, of letters, digits, `_` and `-`. A longer one
 * keeps its head and gets a hash of all of it, so that two tools do not become one. It is never taken apart again.
 */
export function modelName(server: string, tool: string): string {
  const whole = `${serverPrefix(server)}${allowed(tool)}`;
  return whole.length <= LONGEST ? whole : shortened(whole, `${server}\0${tool}`);
}

/**
 * The prefix of the names of a server's tools, as rules have it before `*`. It begins no tool name of another server.
 */
export function serverPrefix(server: string): string {
  return `${SERVER_TOOL_PREFIX}${serverPart(server)}__`;
}

/**
 * The server's own name if it can be told where it ends, and if no other server gets it; else what is left of the name,
 * and a hash of all of it.
 */
function serverPart(server: string): string {
  const isPlain = allowed(server) === server && !/__|_$/.test(server) && !HASHED.test(server);
  if (isPlain && server.length <= LONGEST_SERVER) return server;
  const head = allowed(server)
    .replace(/_+/g, '_')
    .slice(0, LONGEST_SERVER - DIGITS - 1);
  return `${head}-${createHash('sha256').update(server).digest('hex').slice(0, DIGITS)}`;
}

const HASHED = /-[0-9a-f]{12}$/;

const allowed = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, '_');

function shortened(whole: string, original: string): string {
  const hash = shortHash(original);
  return `${whole.slice(0, LONGEST - hash.length - 1)}_${hash}`;
}

/** Eight hexadecimal digits (FNV-1a). It need not be strong: a name already in use is refused. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** The name of a project's server file. */
export const PROJECT_FILE = '.mcp.json';

/**
 * The folder of the project's file: the nearest from `cwd` up to the root of the repository; outside a repository only
 * `cwd`. Null if there is none.
 */
export function projectFolder(cwd: string): string | null {
  if (hasFile(cwd)) return cwd;
  return aboveInRepository(cwd)?.find(hasFile) ?? null;
}

const hasFile = (folder: string): boolean => existsSync(join(folder, PROJECT_FILE));

/** The folders above this one, up to the root of its repository; null outside a repository. */
function aboveInRepository(folder: string): readonly string[] | null {
  if (existsSync(join(folder, '.git'))) return [];
  const above = dirname(folder);
  const others = above === folder ? null : aboveInRepository(above);
  return others && [above, ...others];
}
