import { neutralise } from '../../screen/text/neutralise.js';
import type { CommonOptions } from '../base/options.js';
import { readSettings, requireConfig, type SettingsOptions } from '../base/settings.js';
import type { World } from '../base/world.js';
import { Connections } from '../wiring/connections.js';
import { serverList } from '../wiring/server-list.js';

/**
 * Prints the chat models of the server in use as `-m` takes them, the one in use first, and on stderr a line for each
 * server by name. Throws the `HiError` of a server that does not list its models.
 */
export async function modelsCommand(world: World, options: CommonOptions & SettingsOptions): Promise<number> {
  const settings = await readSettings(world, options);
  const config = requireConfig(settings);
  const connections = new Connections(world, options, settings, config);
  const inUse = connections.target(config);
  if (connections.serverNames.length > 0) {
    const rows = await serverList(connections, inUse, world.now(), new AbortController().signal);
    const width = rows.reduce((widest, { name }) => Math.max(widest, name.length), 0);
    for (const { name, text } of rows) world.stderr.write(neutralise(`${name.padEnd(width)}  ${text}\n`));
  }
  const names = await connections.models(inUse);
  const at = inUse.server === undefined ? '' : `${inUse.server}/`;
  const ordered = new Set([inUse.model, ...names].map((name) => `${at}${name}\n`));
  world.stdout.write(neutralise([...ordered].join('')));
  return 0;
}
