// Prints counts of the code in lib/ and bin/: `npm run measure`. It does not judge them. With `--write` it also writes
// them where docs/architecture.md quotes them.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { cycles, type Graph } from './measure/cycles.js';
import { repeatedLines } from './measure/repeated.js';
import { LONG, readSources } from './measure/source.js';
import { TYPED_LINE } from './measure/typed-line.js';

const sources = readSources(['bin', 'lib']);
const functions = sources.flatMap((source) => source.functions).sort((one, other) => other.lines - one.lines);
const long = functions.filter(({ lines }) => lines > LONG);
const files: Graph = new Map(sources.map(({ file, imports }) => [file, imports]));
const fileCycles = cycles(files);
const folderCycles = cycles(foldersOf(files));
const shared = grouped(sources.flatMap(({ file, exports }) => exports.map((name) => [name, file] as const)));
const twice = grouped(sources.map(({ file }) => [basename(file), file] as const)).filter(
  ([name]) => name !== 'index.ts',
);
const repeated = repeatedLines(sources);
const onDemand = sources.flatMap((source) => source.onDemand.map((imported) => `${source.file}: ${imported}`));
const interfaces = sources.flatMap((source) => source.interfaces).sort((one, other) => other.members - one.members);
const rooms = grouped(sources.map(({ file, lines }) => [file.split('/').slice(0, 2).join('/'), `${lines}`] as const));

const MAP = 'docs/architecture.md';

const measures: readonly (readonly [string, string])[] = [
  ['files', `${sources.length}`],
  ['lines a file: median / 90 % / most', spread(sources.map(({ lines }) => lines))],
  ['functions', `${functions.length}`],
  ['lines a function: median / 90 % / most', spread(functions.map(({ lines }) => lines))],
  [`functions above ${LONG} lines, tables included`, `${long.length}`],
  ['import cycles between files, types and imports on demand included', `${fileCycles.length}`],
  ['import cycles between folders', `${folderCycles.length}`],
  ['exported names declared in more than one file', `${shared.length}`],
  ['… in more than one folder', `${shared.filter(([, places]) => new Set(places.map(dirname)).size > 1).length}`],
  ['file names used more than once, `index.ts` aside', `${twice.length}`],
  ['imports of our modules on demand', `${onDemand.length}`],
  ['members of the largest interface with functions', `${interfaces[0]?.members ?? 0}`],
  ['files that a typed line passes through', `${TYPED_LINE.length}`],
  ['places with six or more lines of code that also occur elsewhere', `${repeated.length}`],
];
const linesOfRooms = rooms
  .map(([room, counts]) => ({
    room,
    lines: counts.reduce((sum, count) => sum + Number(count), 0),
    files: counts.length,
  }))
  .sort((one, other) => other.lines - one.lines);

table(measures);
list(
  `Functions above ${LONG} lines`,
  long.map(({ name, file, lines }) => `${lines} ${name} (${file})`),
);
list(
  'Cycles between files',
  fileCycles.map((cycle) => cycle.join(', ')),
);
list(
  'Cycles between folders',
  folderCycles.map((cycle) => cycle.join(', ')),
);
list(
  'Exported names declared in more than one file',
  shared.map(([name, places]) => `${name}: ${places.join(', ')}`),
);
list(
  'File names used more than once',
  twice.map(([name, places]) => `${name}: ${places.map(dirname).join(', ')}`),
);
list('The same lines twice', repeated);
list('Imports on demand', onDemand);
list(
  'The largest interfaces with functions',
  interfaces.slice(0, 10).map(({ name, file, members }) => `${members} ${name} (${file})`),
);
list('A typed line passes through', TYPED_LINE);
list(
  'Lines of each room',
  linesOfRooms.map(({ room, lines, files }) => `${lines} ${room} (${files} files)`),
);
if (process.argv.includes('--write')) writeFileSync(MAP, withMeasures(readFileSync(MAP, 'utf8')));

/** The map with the present numbers in the third column of the measures, and in the line about the rooms. */
function withMeasures(map: string): string {
  const values = new Map(measures.map(([measure, value]) => [measure, value.replaceAll(' / ', '/')]));
  const lines = map.split('\n').map((line) => {
    const [start, measure = '', before, , ...rest] = line.split('|');
    const value = values.get(measure.trim());
    if (value !== undefined) return [start, measure, before, ` ${value} `, ...rest].join('|');
    const [quoting, ...quoted] = line.split('Lines of each room: ');
    return quoted.length === 0 ? line : `${quoting}Lines of each room: ${roomsText()}.`;
  });
  return lines.join('\n');
}

function roomsText(): string {
  return linesOfRooms
    .filter(({ room }) => room.startsWith('lib/'))
    .map(({ room, lines }) => `\`${room.slice('lib/'.length)}\` ${lines}`)
    .join(', ');
}

/** The same graph between folders. */
function foldersOf(graph: Graph): Graph {
  const found = new Map<string, string[]>();
  for (const [file, imports] of graph) {
    const others = imports.map(dirname).filter((folder) => folder !== dirname(file));
    found.set(dirname(file), [...(found.get(dirname(file)) ?? []), ...others]);
  }
  return found;
}

/** The values of each key with more than one, the key with the most first. */
function grouped(pairs: readonly (readonly [string, string])[]): readonly (readonly [string, readonly string[]])[] {
  const found = new Map<string, string[]>();
  for (const [key, value] of pairs) found.set(key, [...(found.get(key) ?? []), value]);
  return [...found].filter(([, values]) => values.length > 1).sort((one, other) => other[1].length - one[1].length);
}

function spread(numbers: readonly number[]): string {
  const sorted = [...numbers].sort((one, other) => one - other);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  return `${at(0.5)} / ${at(0.9)} / ${at(1)}`;
}

function table(rows: readonly (readonly [string, string])[]): void {
  console.log('| measure | value |\n| --- | --: |');
  for (const [measure, value] of rows) console.log(`| ${measure} | ${value} |`);
}

function list(title: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log(`\n${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`);
}
