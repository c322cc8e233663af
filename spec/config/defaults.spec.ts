import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/chat/json.js';
import { configSchema } from '../../lib/config/config.js';
import { resolveConfig } from '../../lib/config/resolve.js';
import { defaultsOf, filledIn, found, objectSchema, oneOf, section, setting } from '../../lib/config/setting.js';
import { providers } from '../../lib/providers/index.js';
import { PAGES, withTable } from '../../scripts/settings-tables.js';

const SCHEMA = configSchema({ providers: ['openai'], strategies: ['summary'], options: {} });

/** The settings of the schema, or of one of its sections, by name. */
function settingsOf(schema: JsonValue | undefined): JsonObject {
  const properties = isJsonObject(schema) ? schema.properties : undefined;
  return isJsonObject(properties) ? properties : {};
}

const settings = settingsOf(SCHEMA);

/** What is set where nothing is, by the schema alone. */
function defaultOf(schema: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(schema)) return undefined;
  if (schema.type !== 'object') return schema.default;
  return Object.fromEntries(Object.entries(settingsOf(schema)).map(([key, setting]) => [key, defaultOf(setting)]));
}

describe('the default of a setting', () => {
  const withDefault = ['preamble', 'max_input_tokens', 'compaction', 'skills', 'tools', 'input', 'openai', 'thinking'];

  it.each(withDefault)('is that of the schema: %s', async (key) => {
    const sources = { file: { provider: 'openai' }, flags: {}, env: {}, vendors: providers, models: async () => [] };
    const { config }: { readonly config: unknown } = await resolveConfig(sources);
    expect(isJsonObject(config) && config[key]).toEqual(defaultOf(settings[key]));
  });

  it('exists for everything but the model and how to reach it', () => {
    const without = Object.keys(settings).filter((key) => defaultOf(settings[key]) === undefined);
    expect(without).toEqual(['$schema', 'provider', 'model', 'api_key', 'api_base', 'context_window', 'small_model']);
  });
});

describe('the manual', () => {
  it.each(Object.keys(PAGES))('has up-to-date tables in %s, as `npm run docs` writes them', (page) => {
    const text = readFileSync(page, 'utf8');
    expect(text).toBe(withTable(page, text));
  });
});

describe('a setting', () => {
  const keys = {
    width: setting({ type: 'integer', minimum: 1 }, 80, 'How wide it is.'),
    name: found<string>({ type: 'string' }, 'What it is called.', 'the folder'),
    inner: section('A group.', { form: oneOf(['round', 'square'], 'round', 'Which form it has.') }),
  };

  it('has its default, its schema and its type from one place', () => {
    const defaults: { readonly width: number; readonly inner: { readonly form: 'round' | 'square' } } =
      defaultsOf(keys);
    expect(defaults).toEqual({ width: 80, inner: { form: 'round' } });
    expect(objectSchema('All.', keys).properties).toMatchObject({
      width: { type: 'integer', minimum: 1, default: 80, description: 'How wide it is.' },
      name: { type: 'string', description: 'What it is called.' },
      inner: { properties: { form: { enum: ['round', 'square'], default: 'round' } } },
    });
  });

  it('uses its default only if the file has no value', () => {
    const file = { inner: { form: 'square' }, name: 'x' };
    expect(filledIn(defaultsOf(keys), file)).toEqual({ width: 80, inner: { form: 'square' } });
  });
});
