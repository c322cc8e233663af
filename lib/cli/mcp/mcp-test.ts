import { type JsonObject, parseObject } from '../../chat/json.js';
import { EXIT_STATUS, HiError } from '../../errors.js';
import { readServers, type ServerEntry } from '../../mcp/base/server-entry.js';
import { type CallResult, readResult } from '../../mcp/calls/read-result.js';
import { type Offer, unknownTools } from '../../mcp/definitions/definition.js';
import { neutralise } from '../../screen/text/neutralise.js';
import type { CommonOptions } from '../base/command-options.js';
import { type ConfiguredServers, configuredServers } from '../base/configured-servers.js';
import { writeJson } from '../base/shown.js';
import type { World } from '../base/world.js';
import { findServer, unknownServer } from './find-server.js';
import { offerText } from './offer-text.js';
import { keepOffer, withServer } from './open-server.js';

export interface McpTestOptions extends CommonOptions {
  /** `NAME` or `NAME=JSON`. */
  readonly call?: string;
  readonly json?: boolean;
}

/** Starts a server, prints what it offers, and calls a tool where one is named. Resolves to the exit status: 5 where the tool says that it failed. Throws a `HiError`. */
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
