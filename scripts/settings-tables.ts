import type { JsonValue } from '../lib/chat/json.js';
import { strategies } from '../lib/compaction/index.js';
import { configKeys } from '../lib/config/keys.js';
import { isSection, isSetting } from '../lib/config/setting.js';
import { providers } from '../lib/providers/index.js';
import { optionTables } from '../lib/providers/option-tables.js';

/** The pages of the manual with a table of settings, and the section of each; null for the whole file. */
export const PAGES: Readonly<Record<string, string | null>> = {
  'docs/configure.md': null,
  'docs/compaction.md': 'compaction',
  'docs/skills.md': 'skills',
  'docs/tools-and-safety.md': 'tools',
};

const KEYS: Readonly<Record<string, unknown>> = configKeys({
  providers: providers.map(({ name }) => name),
  strategies: strategies.map(({ name }) => name),
  options: await optionTables(),
});

const TABLE = /(<!-- settings: written by npm run docs -->\n)[\s\S]*?(<!-- end of settings -->)/;

/** The page with an up-to-date table. */
export function withTable(page: string, text: string): string {
  if (!TABLE.test(text)) throw new Error(`${page} has no place for the table of settings.`);
  return text.replace(TABLE, (_all, before: string, after: string) => `${before}\n${table(rowsOf(page))}\n\n${after}`);
}

type Row = readonly [key: string, value: string, about: string];

function rowsOf(page: string): readonly Row[] {
  const name = PAGES[page] ?? null;
  if (name === null) return Object.entries(KEYS).flatMap(([key, entry]) => (key === '$schema' ? [] : rows(key, entry)));
  const entry = KEYS[name];
  if (!isSection(entry)) throw new Error(`'${name}' is not a section.`);
  return Object.entries(entry.keys).flatMap(([key, inner]) => {
    return isSection(inner) ? [[key, '', inner.about] as const] : rows(key, inner);
  });
}

/** The row of a setting, or of a section with its own page; else a row for each setting of the section. */
function rows(key: string, entry: unknown): readonly Row[] {
  if (isSection(entry)) {
    if (entry.page !== undefined)
      return [[key, '', `${entry.about} See [${entry.page.replaceAll('-', ' ')}](${entry.page}.md).`]];
    return Object.entries(entry.keys).flatMap(([name, inner]) => rows(`${key}.${name}`, inner));
  }
  if (!isSetting(entry)) throw new Error(`'${key}' is neither a section nor a setting.`);
  return [[key, entry.otherwise ?? shown(entry.default), entry.about]];
}

/** A value as JSON; a string formatted as code. */
function shown(value: JsonValue | undefined): string {
  return typeof value === 'string' ? `\`${JSON.stringify(value)}\`` : JSON.stringify(value ?? null);
}

function table(rows: readonly Row[]): string {
  const cells = [
    ['key', 'default', 'what it does'],
    ...rows.map(([key, value, about]) => [`\`${key}\``, value, about]),
  ];
  const widths = [0, 1, 2].map((column) =>
    cells.reduce((widest, row) => Math.max(widest, row[column]?.length ?? 0), 0),
  );
  const lines = cells.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`);
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [lines[0], rule, ...lines.slice(1)].join('\n');
}
