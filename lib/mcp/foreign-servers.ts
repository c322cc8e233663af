import { join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { isJsonObject, isTooDeep, type JsonObject, type JsonValue, parseObject } from '../chat/json.js';
import { claudeFolder, codexFolder, type Surroundings } from '../config/paths.js';
import type { ServerFile } from '../config/server-settings.js';
import { readRegularFile } from '../disk.js';
import { HiError, systemCode } from '../errors.js';
import { harmlessLine } from './base/harmless-text.js';
import { isTextList, serverFile } from './project-servers.js';

/** Another program whose configuration names MCP servers. */
export interface ForeignProgram {
  readonly name: string;
  readonly title: string;
  /** Its file for this user. */
  file(user: Surroundings): string;
  /** The servers in the text of that file, by name; null if it cannot be read. */
  servers(text: string, cwd: string): JsonObject | null;
  /** An entry in the vocabulary of `mcpServers`, where the program has another one. */
  readonly translated?: (entry: JsonObject) => JsonObject;
}

/** The programs, by the name that the user gives. */
export const foreignPrograms = (): readonly ForeignProgram[] => [
  {
    name: 'claude',
    title: 'Claude Code',
    file: (user) => join(user.env.CLAUDE_CONFIG_DIR ? claudeFolder(user) : user.home, '.claude.json'),
    servers: (text, cwd) => {
      const file = parseObject(text);
      const project = objectOf(objectOf(file?.projects)?.[cwd]);
      return file && { ...objectOf(file.mcpServers), ...objectOf(project?.mcpServers) };
    },
  },
  {
    name: 'codex',
    title: 'codex',
    file: (user) => join(codexFolder(user), 'config.toml'),
    servers: (text) => {
      const file = tomlObject(text);
      return file && (objectOf(file.mcp_servers) ?? {});
    },
    translated: fromCodex,
  },
  { name: 'cursor', title: 'Cursor', file: ({ home }) => join(home, '.cursor', 'mcp.json'), servers: inMcpServers },
  {
    name: 'vscode',
    title: 'VS Code',
    file: (user) => join(codeFolder(user), 'Code', 'User', 'mcp.json'),
    servers: (text) => {
      const file = parseObject(withoutComments(text));
      return file && (objectOf(file.servers) ?? {});
    },
  },
  {
    name: 'gemini',
    title: 'Gemini CLI',
    file: ({ home }) => join(home, '.gemini', 'settings.json'),
    servers: inMcpServers,
    translated: fromGemini,
  },
];

const objectOf = (value: JsonValue | undefined): JsonObject | null => (isJsonObject(value) ? value : null);

function inMcpServers(text: string): JsonObject | null {
  const file = parseObject(withoutComments(text));
  return file && (objectOf(file.mcpServers) ?? {});
}

function codeFolder({ home, env }: Surroundings): string {
  if (process.platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (process.platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming');
  return env.XDG_CONFIG_HOME || join(home, '.config');
}

/** A string, a comment or a single character, each up to the end of the text where it is not closed. */
const TOKEN = /"(?:[^"\\]|\\(?:.|$))*(?:"|$)|\/\/[^\n]*|\/\*.*?(?:\*\/|$)|./gs;

/** JSON without the comments and the commas before a closing bracket that editors allow. */
function withoutComments(text: string): string {
  const kept: string[] = [];
  for (const [token] of text.replace(/^\uFEFF/, '').matchAll(TOKEN)) {
    if (token.trim() === '' || /^\/[/*]/.test(token)) continue;
    if ((token === ']' || token === '}') && kept.at(-1) === ',') kept.pop();
    kept.push(token);
  }
  return kept.join('');
}

function tomlObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(JSON.stringify(parseToml(text)));
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

const variable = (name: string): string => `\${${name}}`;

/** codex: headers from variables, tools by list, times in seconds. */
function fromCodex(entry: JsonObject): JsonObject {
  const { http_headers, env_http_headers, bearer_token_env_var: token, env_vars, ...rest } = entry;
  const { enabled_tools: only, disabled_tools: not, startup_timeout_sec, tool_timeout_sec, env, ...others } = rest;
  const passed = Array.isArray(env_vars) ? env_vars.filter((name) => typeof name === 'string') : [];
  const headers = {
    ...objectOf(http_headers),
    ...withVariables(objectOf(env_http_headers)),
    ...(typeof token === 'string' && { Authorization: `Bearer ${variable(token)}` }),
  };
  const all = { ...Object.fromEntries(passed.map((name) => [name, variable(name)])), ...objectOf(env) };
  return {
    ...others,
    ...(Object.keys(all).length > 0 && { env: all }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...toolsOf(only, not),
    ...(typeof startup_timeout_sec === 'number' && { start_timeout_ms: Math.ceil(startup_timeout_sec * 1000) }),
    ...(typeof tool_timeout_sec === 'number' && { timeout_ms: Math.ceil(tool_timeout_sec * 1000) }),
  };
}

function withVariables(names: JsonObject | null): JsonObject {
  const texts = Object.entries(names ?? {}).filter((each): each is [string, string] => typeof each[1] === 'string');
  return Object.fromEntries(texts.map(([header, name]) => [header, variable(name)]));
}

/** Gemini CLI: `url` is of the older transport, `httpUrl` of the newer one, and variables have no braces. */
function fromGemini({ url, httpUrl, includeTools, excludeTools, timeout, ...entry }: JsonObject): JsonObject {
  const address = httpUrl ?? url;
  return {
    ...(address !== undefined && { type: httpUrl === undefined ? 'sse' : 'http', url: address }),
    ...entry,
    ...(isJsonObject(entry.env) && { env: withBraces(entry.env) }),
    ...(isJsonObject(entry.headers) && { headers: withBraces(entry.headers) }),
    ...toolsOf(includeTools, excludeTools),
    ...(typeof timeout === 'number' && { timeout_ms: timeout }),
  };
}

function withBraces(values: JsonObject): JsonObject {
  const braced = (value: JsonValue | undefined) =>
    typeof value === 'string' ? value.replace(/\$([A-Za-z_]\w*)/g, (_, name: string) => variable(name)) : value;
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, braced(value)]));
}

function toolsOf(only: JsonValue | undefined, not: JsonValue | undefined): JsonObject {
  if (only === undefined && not === undefined) return {};
  return { tools: { ...(only !== undefined && { only }), ...(not !== undefined && { not }) } };
}

/** A server that another program has. */
export type ForeignServer = { readonly name: string } & (
  | {
      readonly file: ServerFile;
      /** What of its entry `hi` has no use for. */
      readonly unused: readonly string[];
    }
  | {
      /** Why `hi` cannot use it, as the end of a sentence. */
      readonly problem: string;
    }
);

/** The longest name, as the schema of the configuration has it. */
const LONGEST = 64;

/** How many servers of a program are read. */
const MOST = 200;

/**
 * The servers of a program, in its order; null where it has no file. Starts nothing. Throws a `HiError` of code
 * `config` for a file that cannot be read.
 */
export function readForeignServers(
  program: ForeignProgram,
  user: Surroundings,
  cwd: string,
): readonly ForeignServer[] | null {
  const path = program.file(user);
  const text = textOf(path);
  if (text === null) return null;
  const found = program.servers(text, cwd);
  if (found === null || isTooDeep(found))
    throw new HiError('config', `The servers of ${program.title} in '${path}' cannot be read.`, {
      hint: `Check that ${program.title} itself can read the file.`,
    });
  return Object.entries(found)
    .slice(0, MOST)
    .map(([name, entry]) => ({ name: harmlessLine(name, LONGEST), ...asServer(name, entry, program, user.home) }));
}

function textOf(path: string): string | null {
  try {
    return readRegularFile(path).toString();
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return null;
    throw new HiError('config', `Cannot read '${path}' (${systemCode(cause) ?? cause}).`, {
      hint: "Check its owner and mode with 'ls -l'.",
      cause,
    });
  }
}

type Entry = { readonly file: ServerFile; readonly unused: readonly string[] } | { readonly problem: string };

/** The keys that an entry keeps. */
const KEPT = ['type', 'command', 'args', 'env', 'cwd', 'url', 'headers', 'tools', 'timeout_ms', 'start_timeout_ms'];

function asServer(name: string, given: JsonValue | undefined, program: ForeignProgram, home: string): Entry {
  if (name === '' || name !== harmlessLine(name, LONGEST)) return { problem: 'has a name that hi does not take' };
  const { translated = (entry: JsonObject) => entry } = program;
  const entry = isJsonObject(given) ? withOwnVariables(translated(given), home) : {};
  const server = serverFile(entry);
  if (server === null || server.command === '' || server.url === '')
    return { problem: 'has no program or address that hi can read' };
  const strange = textsIn(server).find(isStrange);
  if (strange !== undefined)
    return { problem: `has the value '${harmlessLine(strange, 80)}', which means something else to hi` };
  const { timeout_ms, start_timeout_ms } = entry;
  const tools = toolsFile(objectOf(entry.tools));
  const file = {
    ...server,
    ...(tools && { tools }),
    ...(isTime(timeout_ms) && { timeout_ms }),
    ...(isTime(start_timeout_ms) && { start_timeout_ms }),
  };
  const known = [...KEPT, 'enabled', 'disabled'];
  return { file, unused: Object.keys(entry).filter((key) => !known.includes(key)) };
}

const isTime = (value: JsonValue | undefined): value is number => Number.isSafeInteger(value) && Number(value) > 0;

function toolsFile(tools: JsonObject | null): ServerFile['tools'] | null {
  const { only, not } = tools ?? {};
  if (!isTextList(only) || !isTextList(not)) return null;
  return only === undefined && not === undefined ? null : { ...(only && { only }), ...(not && { not }) };
}

/** Every text in a value. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** `${env:NAME}` and `${userHome}` of editors, as `hi` writes them. */
function withOwnVariables(entry: JsonObject, home: string): JsonObject {
  const own = (value: JsonValue | undefined): JsonValue | undefined => {
    if (typeof value === 'string')
      return value
        .replace(/\$\{env:(\w+)\}/g, (_, name: string) => variable(name))
        .replace(/\$\{userHome\}/g, () => home);
    if (Array.isArray(value)) return value.map((one) => own(one) ?? null);
    return isJsonObject(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, own(one)])) : value;
  };
  return Object.fromEntries(Object.entries(entry).map(([key, value]) => [key, own(value)]));
}

/** What `hi` would run, or could not look up: `!command`, `${input:token}`, `${workspaceFolder}` in an editor. */
const isStrange = (text: string): boolean =>
  text.startsWith('!') || /\$\{(?![A-Za-z_]\w*(?:\}|:-))/.test(text) || /\$\{workspaceFolder/.test(text);
