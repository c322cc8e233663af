import { HiError } from '../../errors.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { serverTable } from '../../slash/common/shown.js';
import type { CommonOptions } from '../base/options.js';
import { readSettings, requireConfig, type SettingsOptions } from '../base/settings.js';
import { stoppingOf, type World } from '../base/world.js';
import { Connections } from '../wiring/connections.js';
import { serverList } from '../wiring/server-list.js';

/**
 * Prints the chat models of the server in use as `-m` takes them, the one in use first, and on stderr a line for each
 * server by name. Throws the `HiError` of a server that does not list its models.
 */
export async function modelsCommand(world: World, options: CommonOptions & SettingsOptions): Promise<number> {
  const settings = await readSettings(world, options);
  const connections = new Connections(world, options, settings, requireConfig(settings));
  const inUse = connections.target(requireConfig(settings));
  const stopping = stoppingOf(world);
  try {
    const rows = await serverList(connections, inUse, world.now(), stopping.signal);
    if (rows.length > 1) world.stderr.write(neutralise(`${serverTable(rows)}\n`));
    const models = rows[0]?.models ?? [];
    if (models instanceof HiError) throw models;
    const at = inUse.server === undefined ? '' : `${inUse.server}/`;
    const names = new Set([inUse.model, ...models]);
    world.stdout.write(neutralise([...names].map((name) => `${at}${name}\n`).join('')));
    return 0;
  } finally {
    stopping.release();
  }
}
