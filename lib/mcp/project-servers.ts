import { dirname, join } from 'node:path';
import { isJsonObject, isTooDeep, type JsonObject, type JsonValue, parseObject } from '../chat/json.js';
import type { ServerFile, ServersFile } from '../config/server-settings.js';
import { makeFolder, readRegularFile, writeAside } from '../disk.js';
import { harmlessLine } from './base/harmless-text.js';
import { PROJECT_FILE } from './base/server-entry.js';
import { definitionHash } from './definitions/definition.js';

/** A server from a project's file. */
export interface ProjectServer {
  readonly name: string;
  readonly file: ServerFile;
  /** Identifies exactly this entry in this folder (SHA-256). */
  readonly hash: string;
}

/** The servers in a folder's project file, and problems with it. */
export interface ProjectServers {
  readonly servers: readonly ProjectServer[];
  readonly problems: readonly string[];
}

/** How many servers of a project are read. */
const MOST_SERVERS = 50;

/** Reads the project file of a folder; a missing one has no servers. Nothing is started. */
export function readProjectServers(folder: string): ProjectServers {
  const text = textOf(join(folder, PROJECT_FILE));
  if (text === null) return { servers: [], problems: [] };
  const file = parseObject(text);
  const listed = file !== null && !isTooDeep(file) && isJsonObject(file.mcpServers) ? file.mcpServers : null;
  if (listed === null)
    return { servers: [], problems: [`'${PROJECT_FILE}' has no servers that can be read in mcpServers.`] };
  const servers: ProjectServer[] = [];
  const all = Object.entries(listed);
  const problems =
    all.length > MOST_SERVERS
      ? [`'${PROJECT_FILE}' names ${all.length} servers. Only the first ${MOST_SERVERS} are read.`]
      : [];
  for (const [name, entry] of all.slice(0, MOST_SERVERS)) {
    const isName = name !== '' && name === harmlessLine(name, 64);
    const server = isJsonObject(entry) && isName ? serverFile(entry) : null;
    if (server === null) problems.push(`The server '${harmlessLine(name, 64)}' in '${PROJECT_FILE}' cannot be read.`);
    else servers.push({ name, file: server, hash: definitionHash({ folder, name, entry }) });
  }
  return { servers, problems };
}

/** The servers in the format of `mcpServers`, with the project's folder. */
export function asServersFile(servers: readonly ProjectServer[], folder: string): ServersFile {
  return Object.fromEntries(servers.map(({ name, file }) => [name, { cwd: folder, ...file }]));
}

/** An entry that somebody else wrote, with the fields allowed in a project; null if it is malformed. */
export function serverFile(entry: JsonObject): ServerFile | null {
  const { type, command, args, env, url, headers, cwd, disabled, enabled, sandbox } = entry;
  const kind = type === 'stdio' || type === 'http' || type === 'sse' ? type : undefined;
  // The user could not tell what they approve.
  if ((command === undefined) === (url === undefined)) return null;
  if (!isTextOrNone(command) || !isTextOrNone(url) || !isTextOrNone(cwd)) return null;
  if (!isTextList(args) || !isTextRecord(env) || !isTextRecord(headers)) return null;
  // A server that asks for a sandbox is never started without one.
  if (sandbox !== undefined && typeof sandbox !== 'boolean') return null;
  return {
    ...(kind && { type: kind }),
    ...(command !== undefined && { command }),
    ...(args && { args }),
    ...(env && { env }),
    ...(url !== undefined && { url }),
    ...(headers && { headers }),
    ...(cwd !== undefined && { cwd }),
    ...(sandbox === true && { sandbox }),
    ...((disabled === true || enabled === false) && { disabled: true }),
  };
}

type Given = JsonValue | undefined;

const isTextOrNone = (value: Given): value is string | undefined => value === undefined || typeof value === 'string';

export const isTextList = (value: Given): value is readonly string[] | undefined =>
  value === undefined || (Array.isArray(value) && value.every((one) => typeof one === 'string'));

const isTextRecord = (value: Given): value is Readonly<Record<string, string>> | undefined =>
  value === undefined || (isJsonObject(value) && Object.values(value).every((one) => typeof one === 'string'));

function textOf(path: string): string | null {
  try {
    return readRegularFile(path).toString();
  } catch {
    return null;
  }
}

/** The project servers that the user approved, each by its exact entry, as kept in a file. */
export function approvalsIn(path: string) {
  return new Approvals(path);
}

class Approvals {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  has({ hash }: ProjectServer): boolean {
    return this.#read()[hash] !== undefined;
  }

  /** Throws the system's error. */
  add({ hash, name }: ProjectServer): void {
    makeFolder(dirname(this.#path), 0o700);
    const kept = `${JSON.stringify({ ...this.#read(), [hash]: name }, null, 2)}\n`;
    writeAside(this.#path, kept, { mode: 0o600, synced: true });
  }

  #read(): Readonly<Record<string, unknown>> {
    try {
      return parseObject(readRegularFile(this.#path).toString()) ?? {};
    } catch {
      return {};
    }
  }
}
