import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { providers } from '../lib/providers/index.js';
import { namedDeprecated } from './deprecated-models.js';
import { PAGES, withTable } from './settings-tables.js';

for (const page of Object.keys(PAGES)) writeFileSync(page, withTable(page, readFileSync(page, 'utf8')));

const pages = ['README.md', ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []))];
const defaults = providers.map(({ defaultModel, fastModel }) => `${defaultModel} ${fastModel}`).join(' ');
const found = namedDeprecated([
  ['the default models', defaults],
  ...pages.map((page) => [page, readFileSync(page, 'utf8')] as const),
]);
for (const text of found) console.error(text);
if (found.length > 0) process.exitCode = 1;
