// Part of `npm run lint`: whether every regular expression of the program is linear, so that no text of a model, a server or a file can stop it.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from '@swc/core';
import { check } from 'recheck';

const FOLDERS = ['lib', 'bin'];

/** Deterministic and without a search by chance: the same answer on every machine. */
const PARAMS: Parameters<typeof check>[2] = { checker: 'auto', timeout: 10_000, randomSeed: 1 };

interface Expression {
  readonly file: string;
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/** Every literal of a file. What is put together at run time is made of texts that are checked by their specs. */
function expressionsIn(file: string): readonly Expression[] {
  const text = readFileSync(file, 'utf8');
  const found: Expression[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    if (isLiteral(node)) {
      const { pattern: source, flags } = node;
      const before = text.slice(0, text.indexOf(`/${source}/${flags}`));
      found.push({ file, place: `${file}:${before.split('\n').length}`, source, flags });
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseSync(text, { syntax: 'typescript' }));
  return found;
}

const isLiteral = (node: object): node is { pattern: string; flags: string } =>
  'type' in node && node.type === 'RegExpLiteral' && 'pattern' in node && 'flags' in node;

/** The digests of the expressions that were found linear, and of those that only their file excuses, so that only new ones are looked at: `node scripts/run.js check-regexes --write` adds them. */
const LIST = 'scripts/linear-regexes.json';

/**
 * Files whose expressions take more than linear time, never exponential, for a text that is bounded: why. Degrees count only up to that bound.
 */
const BOUNDED: Readonly<Record<string, string>> = {
  'lib/providers/common/failure-kind.ts': 'messages of vendors are cut to 500 characters, violations to 2000',
  'lib/providers/common/overflow.ts': 'messages of vendors are cut to 500 characters',
  'lib/providers/common/refusals.ts': 'messages of vendors are cut to 500 characters',
  'lib/providers/common/retry-after.ts': 'messages of vendors are cut to 500 characters',
  'lib/providers/common/vendor-error.ts': 'an error page is read up to 256 KiB, and the tag up to 200 characters',
  'lib/chat/window-in.ts': 'messages of vendors are cut to 500 characters',
  'lib/session/fit-tools.ts': 'the description of a tool of our own',
  'lib/repl/edits.ts': 'what the user types',
  'lib/repl/line-completion.ts': 'what the user types',
  'lib/cli/input/mention-words.ts': 'a word that the user types',
  'lib/cli/shell/shell-tasks.ts': 'the answer of one request, which asks for a command',
  'lib/slash/copy.ts': 'an answer, when the user copies code from it',
  'lib/screen/markdown.ts': 'one line of an answer',
  'lib/compaction/language.ts': 'a sample of the conversation',
  'lib/compaction/reply.ts': 'a summary, which max_output_tokens bounds',
  'lib/compaction/summary-input.ts': 'what one request for a summary holds',
  'lib/recall/index/documents.ts': 'one stored message',
  'lib/recall/rank/query.ts': 'a query',
  'lib/permission/rules/rules.ts': "a rule of the user's own",
  'lib/permission/glob/glob.ts': "a rule of the user's own",
  'lib/permission/paths/path-words.ts': 'a word of a command',
  'lib/permission/shell/directory-traversals.ts': 'a word of a command',
  'lib/permission/shell/word-pattern.ts': 'a word of a command',
};

const files = FOLDERS.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name)),
);
const digest = ({ source, flags }: Expression): string =>
  createHash('sha256').update(`/${source}/${flags}`).digest('hex').slice(0, 12);
const inFile = (one: Expression): string => `${digest(one)} ${one.file}`;

/** The line of the list that an expression is on; null where it has to be looked at. */
function acceptedAs(one: Expression): string | null {
  if (known.has(digest(one))) return digest(one);
  return BOUNDED[one.file] !== undefined && known.has(inFile(one)) ? inFile(one) : null;
}

const known = new Set<string>(JSON.parse(readFileSync(LIST, 'utf8')));
const expressions = files.flatMap(expressionsIn);
const accepted = expressions.flatMap((one) => acceptedAs(one) ?? []);
let faults = 0;
for (const expression of expressions) {
  if (acceptedAs(expression) !== null) continue;
  const answer = await check(expression.source, expression.flags, PARAMS);
  if (answer.status === 'safe') accepted.push(digest(expression));
  else {
    const isExponential = answer.status === 'vulnerable' && answer.complexity.type === 'exponential';
    const isBounded = !isExponential && BOUNDED[expression.file] !== undefined;
    if (isBounded) {
      accepted.push(inFile(expression));
      continue;
    }
    faults += 1;
    const why = answer.status === 'vulnerable' ? answer.complexity.summary : 'not decided';
    console.error(`${expression.place}: /${expression.source}/${expression.flags} is not linear: ${why}`);
  }
}
if (process.argv.includes('--write'))
  writeFileSync(LIST, `${JSON.stringify([...new Set(accepted)].sort(), null, 2)}\n`);
if (faults > 0) console.error('Write it without two repetitions that match the same text, or split the text first.');
process.exitCode = faults > 0 ? 1 : 0;
