// Lets every Node with every available zstd, and the executable if it was built, write one history in turn. Each of
// them and the `zstd` program must be able to read all of it. Needs npm's registry for the other versions of Node. `npm
// run check:history -- 100` runs 100 turns instead of 1,000.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { fetchNode, npmSettings, say } from '../spec/support/install.js';
import { openVendorHouse } from '../spec/support/vendor-house.js';
import { buildProgram } from './build/program.js';

const NODES = ['20', '22', '24', '26'];
/** The number of turns after which `zstd` and the last writer read everything. */
const READ_EVERY = 50;
const EXECUTABLE = resolve('executables', `hi-${process.platform}-${process.arch}`);

/** A program that writes. */
interface Writer {
  readonly title: string;
  readonly command: readonly string[];
}

const turns = Number(process.argv[2] ?? 1000);
const folder = mkdtempSync(join(tmpdir(), 'hi-history-'));
const places = ['config', 'data', 'cache'].map((name) => [`HI_${name.toUpperCase()}_DIR`, join(folder, name)] as const);
const file = join(folder, 'data', 'history.json.zst');
const settings = { PATH: process.env.PATH ?? '', HOME: folder, ...npmSettings() };

try {
  await buildProgram();
  await using house = await openVendorHouse('openai', { key: 'sk-shared', text: 'Noted.' });
  for (const [, place] of places) mkdirSync(place, { recursive: true });
  const key = { OPENAI_API_KEY: 'sk-shared', OPENAI_BASE_URL: house.base };
  const env = { ...settings, ...Object.fromEntries(places), ...key };
  const writers = await allWriters(env);
  await writeInTurn(writers, env);
  for (const writer of writers) await checkReading(writer, turns, env);
  console.log(`All right: ${turns} turns by ${writers.length} writers, ${house.asked.length} requests.`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** All available writers, with the zstd that each uses. */
async function allWriters(env: Readonly<Record<string, string>>): Promise<readonly Writer[]> {
  // With zstd-napi, if it was built, and without.
  const [withAddon, alone] = [join(folder, 'with-addon'), join(folder, 'alone')];
  for (const place of [withAddon, alone]) cpSync('dist', join(place, 'dist'), { recursive: true });
  for (const place of [withAddon, alone]) cpSync('package.json', join(place, 'package.json'));
  symlinkSync(resolve('node_modules'), join(withAddon, 'node_modules'));
  const commands: (readonly [string, readonly string[]])[] = [];
  for (const version of NODES) {
    const node = await fetchNode(version, folder, settings);
    for (const place of [withAddon, alone]) commands.push([`Node ${version}`, [node, join(place, 'dist', 'hi.js')]]);
  }
  if (existsSync(EXECUTABLE)) commands.push(['the executable', [EXECUTABLE]]);
  else console.log(`  -  '${EXECUTABLE}' does not exist: run npm run build:binary`);
  const writers = new Map<string, Writer>();
  for (const [name, command] of commands) {
    const { text } = await run(command, ['config', 'check'], env);
    const title = `${name}, ${/zstd: .*/.exec(text)?.[0] ?? 'zstd: unknown'}`;
    writers.set(title, { title, command });
  }
  for (const title of writers.keys()) console.log(`  -  ${title}`);
  return [...writers.values()];
}

async function writeInTurn(writers: readonly Writer[], env: Readonly<Record<string, string>>): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    const writer = writers[turn % writers.length];
    if (writer === undefined) throw new Error('There is no writer.');
    const { status, text } = await run(writer.command, ['ask', `question ${turn}`], env);
    if (status !== 0 || text.trim() !== 'Noted.') throw new Error(`${writer.title}, turn ${turn}: ${status} ${text}`);
    if ((turn + 1) % READ_EVERY > 0) continue;
    requireAll(execFileSync('zstd', ['-dc', file], { encoding: 'utf8', maxBuffer: 2 ** 30 }), turn + 1, 'zstd');
    await checkReading(writer, turn + 1, env);
  }
}

async function checkReading(writer: Writer, count: number, env: Readonly<Record<string, string>>): Promise<void> {
  const { status, text } = await run(writer.command, ['history', '--json'], env);
  if (status !== 0) throw new Error(`${writer.title} cannot read ${count} turns: ${text}`);
  requireAll(text, count, writer.title);
  console.log(`  ok ${count} turns read by zstd and by ${writer.title}`);
}

/** Throws if a turn is missing, repeated or out of order. */
function requireAll(json: string, count: number, reader: string): void {
  const entries: readonly { readonly id: number; readonly role?: string; readonly content?: unknown }[] =
    JSON.parse(json);
  const asked = entries.filter(({ role }) => role === 'user').map(({ content }) => JSON.stringify(content));
  const wanted = Array.from({ length: count }, (_, turn) =>
    JSON.stringify([{ type: 'text', text: `question ${turn}` }]),
  );
  const wrong = wanted.findIndex((text, turn) => asked[turn] !== text);
  if (wrong >= 0 || asked.length !== count)
    throw new Error(`${reader}: ${asked.length} of ${count} turns, wrong from ${wrong}`);
  if (entries.some(({ id }, place) => place > 0 && id <= (entries[place - 1]?.id ?? 0)))
    throw new Error(`${reader}: the ids do not ascend`);
}

async function run(
  [file = '', ...args]: readonly string[],
  more: readonly string[],
  env: Readonly<Record<string, string>>,
) {
  return await say(file, [...args, ...more], { ...env, PATH: [settings.PATH, '/usr/bin'].join(delimiter) });
}
