// Part of `npm run lint`: whether every regular expression of the program is linear, so that no text from a model, a
// server or a file can block it.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';
import { check } from 'recheck';
import { builtExpressions, hasBuilder } from './built-regexes.js';

/** `node scripts/run.js check-regexes FOLDER…` checks other folders. */
const given = process.argv.slice(2).filter((argument) => argument !== '--write');
const folders = given.length > 0 ? given : ['lib', 'bin'];

/** Deterministic, without a random search: the result is the same on every machine. */
const PARAMS: Parameters<typeof check>[2] = { checker: 'auto', timeout: 30_000, randomSeed: 1 };

interface Expression {
  readonly file: string;
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/** Every regular expression literal of a file, and whether the file builds others. */
function expressionsIn(file: string): { readonly found: readonly Expression[]; readonly builds: boolean } {
  const text = readFileSync(file, 'utf8');
  const found: Expression[] = [];
  let builds = false;
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (isLiteral(node)) {
      const { pattern: source, flags } = node;
      const before = text.slice(0, text.indexOf(`/${source}/${flags}`));
      found.push({ file, place: `${file}:${before.split('\n').length}`, source, flags });
    }
    if (isConstruction(node)) builds = true;
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(text, { syntax: 'typescript' }));
  return { found, builds };
}

const isLiteral = (node: object): node is { pattern: string; flags: string } =>
  'type' in node && node.type === 'RegExpLiteral' && 'pattern' in node && 'flags' in node;

const isConstruction = (node: object): boolean =>
  'type' in node &&
  (node.type === 'NewExpression' || node.type === 'CallExpression') &&
  'callee' in node &&
  typeof node.callee === 'object' &&
  node.callee !== null &&
  'value' in node.callee &&
  node.callee.value === 'RegExp';

/**
 * The digests of expressions that are linear, or polynomial and excused, so that only new ones are checked. `--write`
 * adds them.
 */
const LIST = 'scripts/linear-regexes.json';

/**
 * Expressions that are polynomial or undecided, but never exponential, and match only bounded text, each with the
 * reason.
 */
const EXCUSES: readonly { readonly expression: string; readonly file: string; readonly why: string }[] = JSON.parse(
  readFileSync('scripts/bounded-regexes.json', 'utf8'),
);

const written = ({ source, flags }: Expression): string => `/${source}/${flags}`;
const digest = (one: Expression): string => createHash('sha256').update(written(one)).digest('hex').slice(0, 12);
const isExcused = (one: Expression): boolean =>
  EXCUSES.some(({ expression, file }) => expression === written(one) && file === one.file);

let faults = 0;
function fault(text: string): void {
  faults += 1;
  console.error(text);
}

const known = new Set<string>(JSON.parse(readFileSync(LIST, 'utf8')));
const accepted: string[] = [];

/** Reports an expression that is not linear, unless its excuse holds. */
async function judge(one: Expression): Promise<void> {
  const line = isExcused(one) ? `${digest(one)} bounded` : digest(one);
  if (!known.has(line)) {
    const answer = await check(one.source, one.flags, PARAMS);
    const isExponential = answer.status === 'vulnerable' && answer.complexity.type === 'exponential';
    if (answer.status !== 'safe' && (isExponential || !isExcused(one))) {
      const why = answer.status === 'vulnerable' ? answer.complexity.summary : 'not decided';
      fault(`${one.place}: ${written(one)} is not linear: ${why}`);
      return;
    }
  }
  accepted.push(line);
}

const expressions: Expression[] = [];
for (const folder of folders)
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue;
    const file = join(folder, name);
    const { found, builds } = expressionsIn(file);
    for (const one of found) expressions.push(one);
    if (builds && !hasBuilder(file))
      fault(`${file} builds patterns: add a call that builds them to scripts/built-regexes.ts.`);
  }
if (given.length === 0)
  for (const { file, pattern } of await builtExpressions())
    expressions.push({ file, place: `${file} (built)`, source: pattern.source, flags: pattern.flags });
for (const one of expressions) await judge(one);
if (given.length === 0)
  for (const { expression, file } of EXCUSES)
    if (!expressions.some((one) => written(one) === expression && one.file === file))
      fault(`scripts/bounded-regexes.json excuses ${expression}, which is not in ${file}.`);
if (process.argv.includes('--write'))
  writeFileSync(LIST, `${JSON.stringify([...new Set(accepted)].sort(), null, 2)}\n`);
if (faults > 0) console.error('Write it without two repetitions that match the same text, or split the text first.');
process.exitCode = faults > 0 ? 1 : 0;
