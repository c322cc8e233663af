import { readFileSync, writeFileSync } from 'node:fs';
import { PAGES, withTable } from './settings-tables.js';

for (const page of Object.keys(PAGES)) writeFileSync(page, withTable(page, readFileSync(page, 'utf8')));
