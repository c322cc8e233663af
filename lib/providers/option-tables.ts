import type { JsonObject } from '../chat/json.js';
import { providers } from './index.js';

/**
 * The `options` of the configuration, for each vendor that has a table of them. Only the build, the checks and the
 * documentation ask for them.
 */
export async function optionTables(): Promise<Readonly<Record<string, Readonly<Record<string, JsonObject>>>>> {
  const tables = await Promise.all(
    providers.map(async ({ name, optionTable }) => [name, await optionTable?.()] as const),
  );
  return Object.fromEntries(tables.flatMap(([name, table]) => (table === undefined ? [] : [[name, table]])));
}
