import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { type Row, rounded, type Section } from './row.js';

/** The parts of the report, each loaded when it is measured. */
interface Part {
  readonly title: string;
  rows?(): Promise<readonly Row[]>;
  section?(title: string): Promise<Section>;
}

const PARTS: Readonly<Record<string, Part>> = {
  nodes: {
    title: 'The start on each Node, and without one',
    section: async (title) => await (await import('./nodes.js')).section(title),
  },
  start: { title: 'Start, one-shots and long answers', rows: async () => (await import('./start.js')).rows() },
  history: { title: 'History', rows: async () => (await import('./history.js')).rows() },
  context: { title: 'Context and compaction', rows: async () => (await import('./context.js')).rows() },
  skills: { title: 'Skills', rows: async () => (await import('./skills.js')).rows() },
  repl: { title: 'The REPL', rows: repl },
  recall: { title: 'Recall', rows: async () => (await import('./recall.js')).rows() },
  tools: { title: 'Tools', rows: async () => (await import('./tools.js')).rows() },
};

async function repl(): Promise<readonly Row[]> {
  const [screen, chat] = [await import('./screen.js'), await import('./chat.js')];
  return [...(await screen.rows()), ...(await chat.rows())];
}

/** Measures what is asked for and prints it, with `--write` into docs/performance.md too; resolves to 1 when a promise is not kept. */
export async function main(args: readonly string[]): Promise<number> {
  const only = args.includes('--only') ? args[args.indexOf('--only') + 1] : null;
  const isWritten = args.includes('--write');
  if (only !== null && isWritten)
    throw new Error('What is written down is measured in one run: --write goes without --only.');
  const sections: Section[] = [];
  for (const name of only === null ? Object.keys(PARTS) : [only ?? '']) {
    const part = PARTS[name];
    if (part === undefined) throw new Error(`There is no part '${name}'. Known: ${Object.keys(PARTS).join(', ')}.`);
    const { title, rows } = part;
    const section = (await part.section?.(title)) ?? { title, rows: (await rows?.()) ?? [] };
    sections.push(section);
    process.stdout.write(`${table(section)}\n`);
  }
  process.stdout.write(`${machine()}\n`);
  if (isWritten) writeFileSync(PAGE, page(sections));
  return sections.flatMap(({ rows }) => rows).every(isKept) ? 0 : 1;
}

const PAGE = 'docs/performance.md';

function machine(): string {
  const [processor] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `Node ${process.versions.node}, ${cpus().length} × ${processor?.model}, ${memory} GiB`;
}

function page(sections: readonly Section[]): string {
  const date = new Date().toISOString().slice(0, 10);
  return `# Performance

Written by \`npm run bench -- --write\` on ${date}, ${machine()}. A part can be measured alone: \`npm run bench -- --only start\`.

Whole processes are measured against servers on the same machine, by turns with \`node -e 0\`, and each figure is a median of several rounds. × is the ratio to
\`node -e 0\` in the same round unless the line says otherwise: milliseconds differ from machine to machine, ratios hardly. What is promised is in the third column.
${sections.map(table).join('\n')}
${byHand()}`;
}

/** Where the part begins that nobody writes but by hand. */
const BY_HAND = '<!-- measured by hand, kept by npm run bench -- --write -->';

/** What was measured by hand, as it stands in the page. */
function byHand(): string {
  const text = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
  const start = text.indexOf(BY_HAND);
  return start < 0 ? '' : text.slice(start);
}

/** True when the row has no promise or keeps it. */
export function isKept({ value, limit, least }: Row): boolean {
  return (limit === undefined || value <= limit) && (least === undefined || value >= least);
}

/** A section as a Markdown table. */
export function table({ title, rows, text }: Section): string {
  if (text !== undefined) return text;
  const lines = rows.map((row) => {
    const promise = row.limit === undefined ? (row.least === undefined ? '' : `≥ ${row.least}`) : `≤ ${row.limit}`;
    return `| ${row.what} | ${rounded(row.value)} ${row.unit} | ${promise} | ${promise === '' ? '' : isKept(row) ? 'kept' : '**missed**'} |`;
  });
  return `\n## ${title}\n\n| figure | measured | promised | |\n|---|--:|--:|---|\n${lines.join('\n')}\n`;
}
