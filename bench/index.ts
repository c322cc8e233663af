import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { type Row, rounded, type Section } from './row.js';

/** A part of the report. Its code is loaded when it is measured. */
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
  servers: { title: 'Several servers', rows: async () => (await import('./servers.js')).rows() },
  history: { title: 'History', rows: async () => (await import('./history.js')).rows() },
  context: { title: 'Context and compaction', rows: async () => (await import('./context.js')).rows() },
  skills: { title: 'Skills', rows: async () => (await import('./skills.js')).rows() },
  repl: { title: 'The REPL', rows: repl },
  recall: { title: 'Recall', rows: async () => (await import('./recall.js')).rows() },
  lives: { title: 'Automatic recall', rows: async () => (await import('./lives.js')).rows() },
  import: { title: 'Imported books', rows: async () => (await import('./import.js')).rows() },
  price: { title: 'What a question costs', rows: async () => (await import('./price.js')).rows() },
  cache: { title: 'The cache at any pace', rows: async () => (await import('./price-pauses.js')).rows() },
  rests: { title: 'Rests', rows: async () => (await import('./rests.js')).rows() },
  local: { title: 'A local model', rows: async () => (await import('./local.js')).rows() },
  share: { title: 'Several machines', rows: async () => (await import('./share.js')).rows() },
  tools: { title: 'Tools', rows: async () => (await import('./tools.js')).rows() },
};

async function repl(): Promise<readonly Row[]> {
  const [screen, chat] = [await import('./screen.js'), await import('./chat.js')];
  return [...(await screen.rows()), ...(await chat.rows())];
}

/**
 * Measures and prints all parts, or the one after `--only`. `--write` also updates docs/performance.md. Resolves to 1
 * if a promise is not kept.
 */
export async function main(args: readonly string[]): Promise<number> {
  const only = args.includes('--only') ? args[args.indexOf('--only') + 1] : null;
  const isWritten = args.includes('--write');
  if (only !== null && isWritten) throw new Error('--write needs the figures of all parts. Run it without --only.');
  const sections: Section[] = [];
  for (const name of only === null ? Object.keys(PARTS) : [only ?? '']) {
    const part = PARTS[name];
    if (part === undefined) throw new Error(`Unknown part '${name}'. Known: ${Object.keys(PARTS).join(', ')}.`);
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

Whole processes are measured with servers on the same machine, alternating with \`node -e 0\`, and each figure is the median of several rounds. × is the ratio to
\`node -e 0\` in the same round unless the line says otherwise: milliseconds differ from machine to machine, ratios hardly do. The third column is what is promised.
${sections.map(table).join('\n')}
${byHand()}`;
}

/** The line where the part written by hand begins. */
const BY_HAND = '<!-- measured by hand, kept by npm run bench -- --write -->';

/** The part of the page written by hand. */
function byHand(): string {
  const text = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '';
  const start = text.indexOf(BY_HAND);
  return start < 0 ? '' : text.slice(start);
}

/** True if the row makes no promise or keeps it. */
export function isKept({ value, limit, least }: Row): boolean {
  return (limit === undefined || value <= limit) && (least === undefined || value >= least);
}

/** A section as a Markdown table. */
export function table({ title, rows, text }: Section): string {
  if (text !== undefined) return text;
  const lines = rows.map((row) => {
    const least = row.least === undefined ? [] : [`≥ ${row.least}`];
    const promise = [...least, ...(row.limit === undefined ? [] : [`≤ ${row.limit}`])].join(', ');
    return `| ${row.what} | ${rounded(row.value)} ${row.unit} | ${promise} | ${promise === '' ? '' : isKept(row) ? 'kept' : '**missed**'} |`;
  });
  return `\n## ${title}\n\n| figure | measured | promised | |\n|---|--:|--:|---|\n${lines.join('\n')}\n`;
}
