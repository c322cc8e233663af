import { estimateTokens } from '../../chat/tokens.js';
import { readServers, type ServerAddress, type ServerEntry } from '../../mcp/base/server-entry.js';
import { OfferCache } from '../../mcp/definitions/offer-cache.js';
import { colours } from '../base/colours.js';
import type { CommonOptions } from '../base/command-options.js';
import { configuredServers } from '../base/configured-servers.js';
import { shownText, writeJson } from '../base/shown.js';
import type { World } from '../base/world.js';

export interface McpListOptions extends CommonOptions {
  readonly json?: boolean;
}

/** A server as it is listed. */
interface ListedServer {
  readonly name: string;
  readonly address: string;
  /** `null` where it was never asked. */
  readonly tools: readonly { readonly name: string; readonly tokens: number }[] | null;
}

/** Lists the servers and what is known of them. Starts none. Resolves to the exit status. */
export async function mcpListCommand(world: World, options: McpListOptions): Promise<number> {
  const { paths, servers, timeout } = await configuredServers(world, options);
  const { entries, problems } = readServers(servers, timeout);
  const cache = new OfferCache(paths.servers);
  const listed = entries.map((entry) => listedServer(entry, cache));
  if (options.json) {
    writeJson(world.stdout, listed, 2);
    return 0;
  }
  const { bold, dim } = colours(world);
  for (const { name, address, tools } of listed)
    world.stdout.write(shownText(`${bold(name)}  ${address}  ${dim(stateOf(tools))}\n`, world.stdout));
  for (const problem of problems) world.stderr.write(`${problem}\n`);
  if (entries.length === 0 && !options.quiet)
    world.stderr.write(`No servers are configured in '${paths.configFile}'.\n`);
  return 0;
}

function listedServer(entry: ServerEntry, cache: OfferCache): ListedServer {
  const tools = cache.read(entry)?.tools ?? null;
  return {
    name: entry.name,
    address: addressText(entry.address),
    tools:
      tools?.map(({ name, description, parameters }) => ({
        name,
        tokens: estimateTokens(JSON.stringify({ name, description, parameters }).length),
      })) ?? null,
  };
}

function stateOf(tools: ListedServer['tools']): string {
  if (tools === null) return 'not asked yet';
  const tokens = tools.reduce((sum, tool) => sum + tool.tokens, 0);
  return `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}, about ${tokens} tokens`;
}

/** Where a server is, in one line; values that may be secret are not part of it. */
export function addressText(address: ServerAddress): string {
  return address.kind === 'http' ? address.url : [address.command, ...address.args].join(' ');
}
