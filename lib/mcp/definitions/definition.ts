import { createHash } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue, parseObject } from '../../chat/json.js';
import { quantity } from '../../chat/text.js';
import { makeFolder, writeAside } from '../../disk.js';
import type { ServerEntry } from '../base/server-entry.js';

/** A tool as described by its server, sanitised for the model and the user. */
export interface ToolDefinition {
  /** The server's own name for it. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, with every reference inside. */
  readonly parameters: JsonObject;
  /** The SHA-256 of the original definition. A different hash means a different tool. */
  readonly hash: string;
  /** The server's claim about the tool, unchecked. */
  readonly claimsReadOnly: boolean;
}

/** A prompt of a server, which the user calls by name. */
export interface PromptDefinition {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string; readonly required: boolean }[];
}

/** Something that can be read from a server. The `uri` of a template has placeholders in braces. */
export interface ResourceDefinition {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
}

/** What a server offered when last asked. */
export interface Offer {
  readonly tools: readonly ToolDefinition[];
  readonly prompts: readonly PromptDefinition[];
  readonly resources: readonly ResourceDefinition[];
  readonly templates: readonly ResourceDefinition[];
  /** Instructions that the server wants in every request; empty for none. */
  readonly instructions: string;
  /** What was left out, as sentences for the user. */
  readonly problems: readonly string[];
  /** Data of the SDK that speeds up the next connection. */
  readonly prior: JsonObject | null;
  /** When the list expires, in milliseconds since 1970; null if the server does not say. */
  readonly expires: number | null;
}

/** SHA-256 over the canonical JSON of a definition, 64 hexadecimal digits. */
export function definitionHash(definition: JsonObject): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(definition)))
    .digest('hex');
}

/** The same value with the keys of every object in order. */
function sorted(value: JsonValue | undefined): JsonValue {
  if (value === undefined || typeof value !== 'object' || value === null) return value ?? null;
  if (!isJsonObject(value)) return value.map(sorted);
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

/**
 * What is wrong with the names in `tools.only` and `tools.not`, in sentences: a misspelt one in `not` leaves in what
 * the user wanted out.
 */
export function unknownTools(
  { only, not }: Pick<ServerEntry, 'only' | 'not'>,
  { tools }: Pick<Offer, 'tools'>,
): readonly string[] {
  const unknown = (key: string, names: readonly string[]): readonly string[] =>
    names
      .filter((name) => !tools.some((tool) => tool.name === name))
      .map((name) => `It has no tool '${name}', which tools.${key} names.`);
  return [...unknown('only', only ?? []), ...unknown('not', not)];
}

/** The version of the file's format. */
const VERSION = 2;

/** How long a server is not asked again after a failure, in milliseconds. */
const REMEMBERED_MS = 10 * 60_000;

/** Why a server could not be asked, and when, in milliseconds since 1970. */
export interface Failure {
  readonly at: number;
  readonly message: string;
}

/** What each server offered when last asked, one file each, so that a start need not ask any. */
export class OfferCache {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The offer for exactly this entry; null if none is known. */
  read(entry: ServerEntry): Offer | null {
    const offer = this.#stored(entry)?.offer;
    return isOffer(offer) ? offer : null;
  }

  /** The recent failure of exactly this entry; null if there is none, or it may be asked again. */
  failure(entry: ServerEntry): Failure | null {
    const failed = this.#stored(entry)?.failed;
    if (!isJsonObject(failed) || typeof failed.at !== 'number' || typeof failed.message !== 'string') return null;
    return Date.now() - failed.at < REMEMBERED_MS ? { at: failed.at, message: failed.message } : null;
  }

  /** Stores an offer. If that fails, the next start only has to ask again. */
  write(entry: ServerEntry, offer: Offer): void {
    this.#write(entry, { offer });
  }

  /** Stores a failure next to the known offer. */
  fail(entry: ServerEntry, failed: Failure): void {
    this.#write(entry, { offer: this.read(entry), failed });
  }

  #write({ name, key }: ServerEntry, known: object): void {
    try {
      makeFolder(this.#folder, 0o700);
      writeAside(this.#path(name), JSON.stringify({ version: VERSION, key, ...known }), { mode: 0o600, synced: false });
    } catch {
      // As above.
    }
  }

  #stored({ name, key }: ServerEntry): JsonObject | null {
    const stored = parseObject(this.#text(name));
    return stored?.version === VERSION && stored.key === key ? stored : null;
  }

  remove(name: string): void {
    rmSync(this.#path(name), { force: true });
  }

  #text(name: string): string {
    try {
      return readFileSync(this.#path(name), 'utf8');
    } catch {
      return '';
    }
  }

  #path(name: string): string {
    return join(this.#folder, `${encodeURIComponent(name)}.json`);
  }
}

/**
 * Whether a stored value is an offer. The file is hi's own: it may be truncated or from another version, but not
 * hostile.
 */
function isOffer(stored: unknown): stored is Offer {
  if (!isJsonObject(stored)) return false;
  const { tools, prompts, resources, templates, problems, instructions } = stored;
  return [tools, prompts, resources, templates, problems].every(Array.isArray) && typeof instructions === 'string';
}

/** `failed 2 minutes ago (It exited with status 1.)` */
export function failureText(server: string, { at, message }: Failure): string {
  const begin = `The server '${server}': `;
  const reason = message.startsWith(begin) ? message.slice(begin.length) : message;
  const minutes = Math.max(1, Math.round((Date.now() - at) / 60_000));
  return `failed ${quantity(minutes, 'minute')} ago (${reason})`;
}

/** A change since the user last saw a tool. */
interface Change {
  /** In a few words. */
  readonly reason: string;
  /** The old and the new definition, as lines that start with `-` and `+`. */
  readonly text: string;
  /** Whether the tool changed although its server's configuration did not, so that the change is not the user's. */
  readonly isOfTool: boolean;
}

/** What a server offers that is shown to the model unasked. */
type Offered = Pick<Offer, 'tools' | 'instructions'>;

/**
 * The tools and instructions of servers as the user first saw or last approved them: "always" applies to what they were
 * then.
 */
export class ToolPins {
  readonly #path: string;
  #servers: JsonObject | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** Records what a server offers that is seen for the first time. */
  meet(entry: ServerEntry, offer: Offered): void {
    if (!Object.hasOwn(this.#read(), entry.name)) this.acceptServer(entry, offer);
  }

  /** The instructions of a server as the user last accepted them; empty for none. */
  instructions({ name, key }: ServerEntry): string {
    const server = this.#read()[name];
    return isJsonObject(server) && server.key === key && typeof server.instructions === 'string'
      ? server.instructions
      : '';
  }

  /**
   * Why an earlier approval of this tool no longer applies; null if it does. `instructions` are those of its server
   * now.
   */
  change(entry: ServerEntry, tool: ToolDefinition, instructions: string): Change | null {
    const { name, key } = entry;
    const server = this.#read()[name];
    if (!isJsonObject(server)) return { reason: `the server '${name}' is new`, text: '', isOfTool: false };
    if (server.key !== key)
      return { reason: `how the server '${name}' is started has changed`, text: '', isOfTool: false };
    const pin = isJsonObject(server.tools) && Object.hasOwn(server.tools, tool.name) ? server.tools[tool.name] : null;
    if (!isJsonObject(pin))
      return { reason: `the server '${name}' did not have this tool before`, text: '', isOfTool: true };
    if (pin.hash !== tool.hash)
      return { reason: 'its server has changed its description', text: difference(pin, tool), isOfTool: true };
    const before = this.instructions(entry);
    if (before === instructions) return null;
    const text = changedLines(before, instructions).join('\n');
    return { reason: 'its server has changed its instructions for the model', text, isOfTool: true };
  }

  /** The user has seen the current definition, and the instructions of its server. */
  accept(entry: ServerEntry, tool: ToolDefinition, instructions: string): void {
    const server = this.#read()[entry.name];
    const isSame = isJsonObject(server) && server.key === entry.key && isJsonObject(server.tools);
    const others = isSame && isJsonObject(server.tools) ? server.tools : {};
    this.#keep(entry, { ...others, [tool.name]: pinOf(tool) }, instructions);
  }

  /** The user has replaced the server: accepts all that it offers now. */
  acceptServer(entry: ServerEntry, { tools, instructions }: Offered): void {
    this.#keep(entry, Object.fromEntries(tools.map((tool) => [tool.name, pinOf(tool)])), instructions);
  }

  /** Forgets a server. */
  remove(name: string): void {
    const { [name]: _, ...others } = this.#read();
    this.#write(others);
  }

  #keep({ name, key }: ServerEntry, tools: JsonObject, instructions: string): void {
    this.#write({ ...this.#read(), [name]: { key, tools, instructions } });
  }

  #read(): JsonObject {
    this.#servers ??= readServers(this.#path);
    return this.#servers;
  }

  #write(servers: JsonObject): void {
    this.#servers = servers;
    makeFolder(dirname(this.#path), 0o700);
    writeAside(this.#path, JSON.stringify(servers), { mode: 0o600, synced: true });
  }
}

function readServers(path: string): JsonObject {
  try {
    return parseObject(readFileSync(path, 'utf8')) ?? {};
  } catch {
    return {};
  }
}

const pinOf = ({ hash, description, parameters }: ToolDefinition): JsonObject => ({ hash, description, parameters });

function difference({ description: before, parameters }: JsonObject, { description, ...tool }: ToolDefinition): string {
  const lines = before === description ? [] : changedLines(String(before), description);
  const [old, now] = [JSON.stringify(parameters), JSON.stringify(tool.parameters)];
  return [...lines, ...(old === now ? [] : [`- arguments: ${old}`, `+ arguments: ${now}`])].join('\n');
}

const changedLines = (before: string, now: string): readonly string[] => [
  ...(before === '' ? [] : prefixed('-', before)),
  ...(now === '' ? [] : prefixed('+', now)),
];

const prefixed = (mark: string, text: string): readonly string[] => text.split('\n').map((line) => `${mark} ${line}`);
