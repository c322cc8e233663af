import { type JsonObject, parseObject } from '../../chat/json.js';
import { estimateTokens } from '../../chat/tokens.js';
import { EXIT_STATUS, HiError } from '../../errors.js';
import { readServers, type ServerEntry } from '../../mcp/base/server-entry.js';
import { Pins } from '../../mcp/calls/pins.js';
import { readResult } from '../../mcp/calls/read-result.js';
import { ServerConnection } from '../../mcp/connection/server-connection.js';
import type { Offer } from '../../mcp/definitions/definition.js';
import { OfferCache } from '../../mcp/definitions/offer-cache.js';
import { suggestion } from '../../registry.js';
import { neutralise } from '../../screen/text/sanitize.js';
import type { CommonOptions } from '../base/command-options.js';
import { type ConfiguredServers, configuredServers, connectionDeps } from '../base/configured-servers.js';
import { shownText, writeJson } from '../base/shown.js';
import type { World } from '../base/world.js';

export interface McpTestOptions extends CommonOptions {
  /** `NAME` or `NAME=JSON`. */
  readonly call?: string;
  readonly json?: boolean;
}

/** Starts a server, prints what it offers, and calls a tool where one is named. Resolves to the exit status: 5 where the tool says that it failed. Throws a `HiError`. */
export async function mcpTestCommand(world: World, server: string, options: McpTestOptions): Promise<number> {
  const configured = await configuredServers(world, options);
  const entry = entryFor(server, configured);
  const call = options.call === undefined ? null : callIn(options.call);
  const stop = new AbortController();
  const release = world.onStop(() => stop.abort());
  const connection = new ServerConnection(entry, connectionDeps(world, configured.paths), null);
  try {
    const offer = await connection.offer(stop.signal);
    if (entry.name in configured.servers) keep(entry, offer, configured);
    const result = call && (await callTool(connection, entry, call, stop.signal));
    show(world, entry, offer, result, options);
    return result?.isError ? EXIT_STATUS.request : 0;
  } finally {
    await connection.close();
    release();
  }
}

/** A configured server, or the one at an address. */
function entryFor(server: string, { servers, timeout, paths }: ConfiguredServers): ServerEntry {
  const configured = servers[server];
  const file = configured === undefined && /^https?:\/\//.test(server) ? { url: server } : configured;
  if (file === undefined)
    throw new HiError('usage', `There is no server '${server}' in '${paths.configFile}'.`, {
      hint: suggestion(server, Object.keys(servers)),
    });
  const { entries, problems } = readServers({ [server]: { ...file, enabled: true, disabled: false } }, timeout);
  const [entry] = entries;
  if (entry === undefined) throw new HiError('config', problems.join('\n'));
  return entry;
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

async function callTool(
  connection: ServerConnection,
  { timeout }: ServerEntry,
  { tool, args }: Call,
  signal: AbortSignal,
) {
  return readResult(await connection.call(tool, args, { silence: timeout, signal, progress: () => {} }));
}

function keep(entry: ServerEntry, offer: Offer, { paths }: ConfiguredServers): void {
  new OfferCache(paths.servers).write(entry, offer);
  new Pins(paths.serverPins).meet(entry, offer.tools);
}

function show(
  { stdout }: World,
  { name }: ServerEntry,
  { tools, prompts, resources, instructions, problems, prior }: Offer,
  result: ReturnType<typeof readResult> | null,
  { json }: McpTestOptions,
): void {
  const called = result && {
    text: result.text,
    is_error: result.isError,
    files: result.files.map(({ mime, bytes }) => ({ mime, bytes: bytes.length })),
  };
  if (json) {
    const protocol = prior?.kind === 'modern' ? 'modern' : 'legacy';
    writeJson(
      stdout,
      { server: name, protocol, tools, prompts, resources, instructions, problems, ...(called && { result: called }) },
      2,
    );
    return;
  }
  const lines = tools.map((tool) => {
    const tokens = estimateTokens(JSON.stringify(tool).length);
    return `${tool.name}  (about ${tokens} tokens)  ${tool.description.split('\n')[0] ?? ''}`;
  });
  const others = [
    ...(prompts.length > 0 ? [`${prompts.length} prompts: ${prompts.map((one) => one.name).join(', ')}`] : []),
    ...(resources.length > 0 ? [`${resources.length} resources`] : []),
  ];
  const results =
    called === null ? [] : ['', called.text, ...called.files.map(({ mime, bytes }) => `[${mime}, ${bytes} bytes]`)];
  stdout.write(shownText(`${neutralise([...lines, ...others, ...problems, ...results].join('\n'))}\n`, stdout));
}
