import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/chat/json.js';
import { resolveConfig } from '../../lib/config/resolve.js';
import { configSchema } from '../../lib/config/schema.js';
import { providers } from '../../lib/providers/index.js';

const SCHEMA = configSchema({ providers: ['openai'], strategies: ['summary'] });

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

  it.each(withDefault)('is what the schema says where the file says nothing: %s', async (key) => {
    const sources = { file: { provider: 'openai' }, flags: {}, env: {}, vendors: providers, models: async () => null };
    const config: unknown = await resolveConfig(sources);
    expect(isJsonObject(config) && config[key]).toEqual(defaultOf(settings[key]));
  });

  it('is in the schema for everything but the model and how to reach it', () => {
    const without = Object.keys(settings).filter((key) => defaultOf(settings[key]) === undefined);
    expect(without).toEqual(['$schema', 'provider', 'model', 'api_key', 'api_base', 'context_window', 'small_model']);
  });
});

describe('the manual', () => {
  it.each([
    ['compaction.md', 'compaction'],
    ['skills.md', 'skills'],
    ['tools-and-safety.md', 'tools'],
  ])('has in %s every key of its section with its default', (page, section) => {
    const rows = tableOf(page);
    expect(rows.map(({ key }) => key)).toEqual(Object.keys(settingsOf(settings[section])));
    for (const { key, shown } of rows)
      expect({ key, shown }).toEqual({ key, shown: shownAs(settingsOf(settings[section])[key], shown) });
  });

  it('has in configure.md every key, and of those in no page of their own the default', () => {
    const rows = tableOf('configure.md');
    const keys = Object.keys(settings).filter((key) => key !== '$schema');
    expect([...new Set(rows.map(({ key }) => key.split('.')[0]))].sort()).toEqual(keys.sort());
    for (const { key, shown } of rows) {
      const [name = '', inner] = key.split('.');
      const setting = inner === undefined ? settings[name] : settingsOf(settings[name])[inner];
      expect({ key, shown }).toEqual({ key, shown: shownAs(setting, shown) });
    }
    expect(rows.find(({ key }) => key === 'context_window')?.meaning).toContain('128000');
  });
});

interface Row {
  readonly key: string;
  readonly shown: string;
  readonly meaning: string;
}

/** The rows of the table of settings in a page of the manual. */
function tableOf(page: string): readonly Row[] {
  const lines = readFileSync(`docs/${page}`, 'utf8').split('\n');
  const first = lines.findIndex((line) => /^\| key +\| default +\|/.test(line)) + 2;
  const length = lines.slice(first).findIndex((line) => !line.startsWith('|'));
  return lines.slice(first, first + length).map((line) => {
    const [, key = '', shown = '', meaning = ''] = line.split('|').map((cell) => cell.trim());
    return { key: key.replaceAll('`', ''), shown: shown.replaceAll('`', ''), meaning };
  });
}

/** A default as a table has it: as in JSON; nothing for a section; in words, whichever, where there is none to write down. */
function shownAs(setting: JsonValue | undefined, words: string): string {
  const value = defaultOf(setting);
  if (isJsonObject(value)) return '';
  return value === undefined || value === null ? words : JSON.stringify(value);
}
