import type { JsonObject } from '../chat/json.js';
import { configKeys, type MemberNames } from './keys.js';
import { objectSchema } from './setting.js';

/** The JSON Schema of `config.json` (SPEC §2), descriptions and defaults included, so that editors can complete it. */
export function configSchema(names: MemberNames): JsonObject {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Configuration of hi',
    ...objectSchema('The settings of hi, a terminal chat.', configKeys(names)),
  };
}
