import { HiError } from '../../errors.js';
import { readServers, type ServerEntry } from '../../mcp/base/server-entry.js';
import { suggestion } from '../../registry.js';
import { type ConfiguredServers, usableServers } from '../base/configured-servers.js';
import type { World } from '../base/world.js';

/** A server by its name, even a disabled one; null if there is none. Throws a `HiError` if its entry is invalid or waits for the user's approval. */
export async function findServer(
  world: World,
  name: string,
  configured: ConfiguredServers,
): Promise<ServerEntry | null> {
  const { servers, timeout } = configured;
  const file = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (file === undefined) return await projectServer(world, name, configured);
  const { entries, problems } = readServers({ [name]: { ...file, enabled: true, disabled: false } }, timeout);
  if (entries[0] === undefined) throw new HiError('config', problems.join('\n'));
  return entries[0];
}

async function projectServer(world: World, name: string, configured: ConfiguredServers): Promise<ServerEntry | null> {
  const { entries, waiting } = await usableServers(world, configured);
  if (waiting.some((server) => server.name === name))
    throw new HiError('usage', `The server '${name}' of this project is waiting for your approval.`, {
      hint: `To review and approve it, run: hi mcp approve ${name}`,
    });
  return entries.find((entry) => entry.name === name) ?? null;
}

/** The error for a name that no server has. `known` are the names to choose from. */
export function unknownServer(
  name: string,
  { paths, servers }: ConfiguredServers,
  known: readonly string[] = Object.keys(servers),
): HiError {
  return new HiError('usage', `There is no server '${name}' in '${paths.configFile}'.`, {
    hint: suggestion(name, known),
  });
}
