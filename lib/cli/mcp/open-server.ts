import type { Paths } from '../../config/paths.js';
import type { Elicit } from '../../mcp/base/elicitation.js';
import type { ServerEntry } from '../../mcp/base/server-entry.js';
import { ToolPins } from '../../mcp/calls/tool-pins.js';
import { ServerConnection } from '../../mcp/connection/server-connection.js';
import type { Offer } from '../../mcp/definitions/definition.js';
import { OfferCache } from '../../mcp/definitions/offer-cache.js';
import { type ConfiguredServers, connectionDeps } from '../base/configured-servers.js';
import type { World } from '../base/world.js';
import { askForServer } from '../from-servers/ask-for-server.js';

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
