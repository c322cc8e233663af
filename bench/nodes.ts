import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fetchNode, npmSettings } from '../spec/support/install.js';
import { startFakeVendor } from './fake-vendor.js';
import { type Cost, runOnce } from './process.js';
import { type Row, rounded, type Section } from './row.js';
import { asking, compare, home, PROGRAM, VENDORS } from './start.js';

const ROUNDS = 9;

/** The versions of Node to measure. */
const NODES = ['20', '24'];

/** The executable that needs no Node. */
const EXECUTABLE = resolve('executables', `hi-${process.platform}-${process.arch}`);

/** One form of the program: `command` runs it, and `floor` is the empty program that it is compared to. */
interface Form {
  readonly title: string;
  readonly command: readonly string[];
  readonly floor: readonly string[];
  readonly limits: Readonly<Record<Figure, number>>;
}

type Figure = 'version' | `${'request' | 'exit'} ${'near' | 'far'}`;

const NODE_LIMITS = { version: 1.4, 'request near': 2.4, 'exit near': 2.8, 'request far': 2.7, 'exit far': 3.1 };
const EXECUTABLE_LIMITS = { version: 0.3, 'request near': 0.9, 'exit near': 1.1, 'request far': 0.9, 'exit far': 1.1 };

/**
 * The start in every form of the program, one column each. Leaves out the executable if it is not built, and versions
 * of Node that cannot be fetched.
 */
export async function section(title: string): Promise<Section> {
  const folder = mkdtempSync(join(tmpdir(), 'hi-bench-nodes-'));
  const vendor = await startFakeVendor();
  vendor.pieces = 1;
  try {
    const columns: { readonly form: Form; readonly rows: readonly Row[] }[] = [];
    for (const form of await forms(folder)) {
      const programs = {
        version: () => runOnce([...form.command, '--version'], home(folder, 'version', null), null),
        ...Object.fromEntries(
          VENDORS.map(({ provider, path }) => [
            provider,
            asking(folder, vendor, provider, path, { name: `${form.title}-${provider}`, command: form.command }),
          ]),
        ),
      };
      columns.push({ form, rows: rowsOf(form, await compare(programs, ROUNDS, form.floor)) });
    }
    return { title, rows: columns.flatMap(({ rows }) => rows), text: tableOf(title, columns) };
  } finally {
    vendor.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function forms(folder: string): Promise<readonly Form[]> {
  const found: Form[] = [];
  for (const version of NODES) {
    const node = await fetchNode(version, folder, {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      ...npmSettings(),
    }).catch(() => null);
    if (node === null) process.stderr.write(`Node ${version} could not be fetched. Its column is left out.\n`);
    else
      found.push({ title: `Node ${version}`, command: [node, PROGRAM], floor: [node, '-e', '0'], limits: NODE_LIMITS });
  }
  const floor = [process.execPath, '-e', '0'];
  if (existsSync(EXECUTABLE))
    found.push({ title: 'executable', command: [EXECUTABLE], floor, limits: EXECUTABLE_LIMITS });
  return found;
}

function rowsOf({ title, limits }: Form, costs: Readonly<Record<string, Cost>>): readonly Row[] {
  const row = (what: string, value: number | undefined, figure: Figure): Row => {
    return { what: `${title}, ${what}`, value: value ?? Number.NaN, unit: '×', limit: limits[figure] };
  };
  return [
    row('`--version`', costs.version?.wall, 'version'),
    ...VENDORS.flatMap(({ provider, title: vendor }) => {
      const where = provider === 'openai' || provider === 'ollama' ? 'near' : 'far';
      return [
        row(`${vendor}: → first request`, costs[provider]?.request, `request ${where}`),
        row(`${vendor}: → exit`, costs[provider]?.wall, `exit ${where}`),
      ];
    }),
  ];
}

/** A line for each figure, with the measured value and, in brackets, the promise. */
function tableOf(title: string, columns: readonly { readonly form: Form; readonly rows: readonly Row[] }[]): string {
  const figures = columns[0]?.rows.map(({ what }) => what.slice(what.indexOf(', ') + 2)) ?? [];
  const cell = ({ value, limit = 0 }: Row): string => {
    return value <= limit ? `${rounded(value)} × (≤ ${limit})` : `**${rounded(value)} ×** (≤ ${limit})`;
  };
  const lines = figures.map((figure, place) => {
    const cells = columns.map(({ rows }) => (rows[place] === undefined ? '' : cell(rows[place])));
    return `| ${figure} | ${cells.join(' | ')} |`;
  });
  const head = `| \`hi ask\` | ${columns.map(({ form }) => form.title).join(' | ')} |`;
  const against =
    'Each Node is compared to its own `node -e 0`, the executable to that of the Node that measures. The promise is in brackets; figures that miss it are **bold**.';
  return `\n## ${title}\n\n${against}\n\n${head}\n|---|${columns.map(() => '--:|').join('')}\n${lines.join('\n')}\n`;
}
