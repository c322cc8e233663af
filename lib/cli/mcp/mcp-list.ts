import type { ServerAddress, ServerEntry } from '../../mcp/base/server-entry.js';
import { failureText, OfferCache } from '../../mcp/definitions/offer-cache.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import type { CommonOptions } from '../base/command-options.js';
import { configuredServers, usableServers } from '../base/configured-servers.js';
import { orphanRules } from '../base/orphan-rules.js';
import { writeJson } from '../base/shown.js';
import type { World } from '../base/world.js';
import { colours } from '../terminal/colours.js';
import { definitionTokens } from './offer-text.js';

export interface McpListOptions extends CommonOptions {
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
