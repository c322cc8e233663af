import { type JsonObject, parseObject } from '../../chat/json.js';
import { estimateTokens } from '../../chat/request.js';
import { quantity } from '../../chat/text.js';
import type { Paths } from '../../config/paths.js';
import { readRegularFile } from '../../disk.js';
import { EXIT_STATUS, HiError } from '../../errors.js';
import type { Elicit } from '../../mcp/base/elicitation.js';
import { readServers, type ServerAddress, type ServerEntry } from '../../mcp/base/server-entry.js';
import { type CallResult, readResult } from '../../mcp/calls/read-result.js';
import { ServerConnection } from '../../mcp/connection/server-connection.js';
import { ServerLog } from '../../mcp/connection/spawn-server.js';
import {
  failureText,
  type Offer,
  OfferCache,
  type ToolDefinition,
  ToolPins,
  unknownTools,
} from '../../mcp/definitions/definition.js';
import { neutralise, visibleLine } from '../../screen/text/neutralise.js';
import { askForServer } from '../ask/elicit.js';
import { colours, writeJson } from '../base/command-output.js';
import {
  type ConfiguredServers,
  configuredServers,
  connectionDeps,
  usableServers,
} from '../base/configured-servers.js';
import type { CommonOptions } from '../base/options.js';
import { orphanRules } from '../base/warnings.js';
import type { World } from '../base/world.js';
import { findServer, unknownServer } from './mcp-login.js';

interface McpListOptions extends CommonOptions {
  readonly json?: boolean;
}

/** A server as it is listed. */
interface ListedServer {
  readonly name: string;
  readonly address: string;
  readonly from: 'config' | 'project';
  /** `waiting`: for `hi mcp approve`. */
  readonly state: 'ready' | 'disabled' | 'waiting' | 'failed';
  /** When and why it failed, where it did so a short while ago. */
  readonly failure?: string;
  /** `null` where it was never asked. */
  readonly tools: readonly { readonly name: string; readonly tokens: number }[] | null;
}

/** Lists the servers and what is known of them. Starts none. Resolves to the exit status. */
export async function mcpListCommand(world: World, options: McpListOptions): Promise<number> {
  const configured = await configuredServers(world, options);
  const { paths, servers, permissions } = configured;
  const { entries, problems, waiting } = await usableServers(world, configured);
  const cache = new OfferCache(paths.servers);
  const none = { address: '', tools: null };
  const listed: readonly ListedServer[] = [
    ...entries.map((entry) => listedServer(entry, cache)),
    ...Object.entries(servers)
      .filter(([, { enabled, disabled }]) => enabled === false || disabled === true)
      .map(([name]): ListedServer => ({ ...none, name, from: 'config', state: 'disabled' })),
    ...waiting.map(({ name }): ListedServer => ({ ...none, name, from: 'project', state: 'waiting' })),
  ];
  if (options.json) writeJson(world.stdout, listed, 2);
  else {
    const { bold, dim } = colours(world);
    for (const server of listed)
      world.stdout.write(
        `${[bold(visibleLine(server.name)), visibleLine(server.address), dim(stateOf(server))].filter(Boolean).join('  ')}\n`,
      );
  }
  const orphans = orphanRules(permissions, [...Object.keys(servers), ...listed.map(({ name }) => name)]);
  for (const problem of [...problems, ...orphans]) world.stderr.write(`${visibleLine(problem)}\n`);
  if (listed.length === 0 && !options.quiet)
    world.stderr.write(`No servers are configured in '${paths.configFile}'. To add one, run: hi mcp add\n`);
  return 0;
}

function listedServer(entry: ServerEntry, cache: OfferCache): ListedServer {
  const tools = cache.read(entry)?.tools ?? null;
  const failure = tools === null ? cache.failure(entry) : null;
  return {
    name: entry.name,
    address: addressText(entry.address),
    from: entry.isOfProject ? 'project' : 'config',
    state: failure === null ? 'ready' : 'failed',
    ...(failure !== null && { failure: failureText(entry.name, failure) }),
    tools: tools?.map((tool) => ({ name: tool.name, tokens: definitionTokens(tool) })) ?? null,
  };
}

function stateOf({ state, failure, tools }: ListedServer): string {
  if (state === 'disabled') return 'disabled';
  if (state === 'waiting') return 'of this project, waiting for your approval: hi mcp approve';
  if (tools === null) return failure === undefined ? 'not asked yet' : visibleLine(failure);
  const tokens = tools.reduce((sum, tool) => sum + tool.tokens, 0);
  return `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}, about ${tokens} tokens`;
}

/** Where a server is, in one line; values that may be secret are not part of it. */
function addressText(address: ServerAddress): string {
  return address.kind === 'http' ? address.url : [address.command, ...address.args].join(' ');
}

interface McpTestOptions extends CommonOptions {
  /** `NAME` or `NAME=JSON`. */
  readonly call?: string;
  readonly json?: boolean;
}

/**
 * Starts a server, prints what it offers, and calls a tool where one is named. Resolves to the exit status: 5 where the
 * tool says that it failed. Throws a `HiError`.
 */
export async function mcpTestCommand(world: World, server: string, options: McpTestOptions): Promise<number> {
  const configured = await configuredServers(world, options);
  const { paths } = configured;
  const known = await findServer(world, server, configured);
  const entry = known ?? addressed(server, configured);
  const call = options.call === undefined ? null : callIn(options.call);
  return await withServer(world, configured, entry, async (connection, signal) => {
    const offer = await connection.offer(signal);
    if (known !== null) keepOffer(known, offer, paths);
    const limits = { silence: entry.timeout, signal, progress: () => {} };
    const result = call && readResult(await connection.call(call.tool, call.args, limits));
    show(world, entry, offer, result, options);
    return result?.isError ? EXIT_STATUS.request : 0;
  });
}

function addressed(url: string, configured: ConfiguredServers): ServerEntry {
  const { entries } = /^https?:\/\//.test(url) ? readServers({ [url]: { url } }, configured.timeout) : { entries: [] };
  if (entries[0] === undefined) throw unknownServer(url, configured);
  return entries[0];
}

interface Call {
  readonly tool: string;
  readonly args: JsonObject;
}

function callIn(text: string): Call {
  const at = text.indexOf('=');
  if (at === -1) return { tool: text, args: {} };
  const args = parseObject(text.slice(at + 1));
  if (args !== null) return { tool: text.slice(0, at), args };
  throw new HiError('usage', `The arguments in --call are not a JSON object: '${text.slice(at + 1)}'.`, {
    hint: `Write --call '${text.slice(0, at)}={"name":"value"}'.`,
  });
}

function show(
  { stdout }: World,
  entry: ServerEntry,
  offered: Offer,
  result: CallResult | null,
  { json }: McpTestOptions,
): void {
  const offer = { ...offered, problems: [...offered.problems, ...unknownTools(entry, offered)] };
  const files = result?.files.map(({ mime, bytes }) => ({ mime, bytes: bytes.length })) ?? [];
  if (json) {
    const { prior, expires: _, ...rest } = offer;
    const protocol = prior?.kind === 'modern' ? 'modern' : 'legacy';
    const called = result && { result: { text: result.text, is_error: result.isError, files } };
    writeJson(stdout, { server: entry.name, protocol, ...rest, ...called }, 2);
    return;
  }
  const given = files.map(({ mime, bytes }) => `[${mime}, ${bytes} bytes]`);
  const called = result === null ? [] : ['', neutralise(result.text), ...given];
  stdout.write(neutralise(`${[offerText(offer), ...called].join('\n')}\n`));
}

/**
 * Prints what a server printed that was not a message. Resolves to the exit status. Throws a `HiError` where neither a
 * log nor a server has that name.
 */
export async function mcpLogCommand(world: World, name: string, options: CommonOptions): Promise<number> {
  const configured = await configuredServers(world, options);
  const { paths } = configured;
  const { path } = new ServerLog(paths.servers, name);
  const text = [`${path}.old`, path].map(textOf).join('');
  if (text === '') await requireServer(world, name, configured);
  world.stdout.write(neutralise(text));
  if (text === '' && !options.quiet) world.stderr.write(`There is no log of '${name}': '${path}'.\n`);
  return 0;
}

async function requireServer(world: World, name: string, configured: ConfiguredServers): Promise<void> {
  const { entries, waiting } = await usableServers(world, configured);
  const names = new Set([...Object.keys(configured.servers), ...[...entries, ...waiting].map((server) => server.name)]);
  if (!names.has(name)) throw unknownServer(name, configured, [...names]);
}

function textOf(path: string): string {
  try {
    return readRegularFile(path).toString();
  } catch {
    return '';
  }
}

/** How many tokens the model reads for a tool with every request. */
const definitionTokens = ({ name, description, parameters }: ToolDefinition): number =>
  estimateTokens(JSON.stringify({ name, description, parameters }).length);

/** What a server offers, for people: a line for each tool, and what else there is. */
export function offerText({ tools, prompts, resources, problems }: Offer): string {
  const width = tools.reduce((widest, { name }) => Math.max(widest, name.length), 0);
  const lines = tools.map(
    (tool) => `${tool.name.padEnd(width)}  ${tool.description.split('\n')[0] ?? ''} (${definitionTokens(tool)} tokens)`,
  );
  const total = tools.reduce((sum, tool) => sum + definitionTokens(tool), 0);
  const sum = `${quantity(tools.length, 'tool')}, about ${total} tokens in every request`;
  const others = [
    ...(prompts.length > 0
      ? [`${quantity(prompts.length, 'prompt')}: ${prompts.map(({ name }) => name).join(', ')}`]
      : []),
    ...(resources.length > 0 ? [quantity(resources.length, 'resource')] : []),
  ];
  return neutralise([...lines, sum, ...others, ...problems].join('\n'));
}

/** Connects to a server, hands it over, and ends it, however that goes. Ctrl-C stops what is waited for. */
export async function withServer<Result>(
  world: World,
  configured: Pick<ConfiguredServers, 'paths' | 'require_tls' | 'permissions'>,
  entry: ServerEntry,
  use: (connection: ServerConnection, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const stop = new AbortController();
  const release = world.onStop(() => stop.abort());
  const deps = { ...connectionDeps(world, configured), ...(canAsk(world) && { elicit: elicitOn(world) }) };
  const connection = new ServerConnection(entry, deps, null);
  try {
    return await use(connection, stop.signal);
  } finally {
    await connection.close();
    release();
  }
}

const canAsk = ({ stdinIs, stderr }: World): boolean => stdinIs === 'terminal' && stderr.isTTY === true;

/** Asks the user on the terminal what a server wants to know. */
function elicitOn({ stdin, stderr }: World): Elicit {
  return async (server, question, signal) => {
    return await askForServer(server, question, { input: stdin, output: stderr, signal, ready: async () => {} });
  };
}

/** Keeps what a server offers, so that no start has to ask it, and its tools as the user sees them now. */
export function keepOffer(entry: ServerEntry, offer: Offer, paths: Paths): void {
  new OfferCache(paths.servers).write(entry, offer);
  new ToolPins(paths.serverPins).meet(entry, offer);
}
