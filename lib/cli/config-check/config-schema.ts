import type { JsonObject } from '../../chat/json.js';
import { strategies } from '../../compaction/index.js';
import { configSchema } from '../../config/config.js';
import { providers } from '../../providers/index.js';
import { optionTables } from '../../providers/option-tables.js';

/** The JSON Schema of `config.json`, with the members of the registries. The build evaluates it. */
export const SCHEMA: JsonObject = configSchema({
  providers: providers.map(({ name }) => name),
  strategies: strategies.map(({ name }) => name),
  options: await optionTables(),
});
