// Installs the packed file with each supported pair of npm and Node: online, without install scripts, and offline with
// an empty cache; into empty prefixes of this machine, into a clean Debian, and into a root with musl and without bash,
// like Alpine. Holds a first conversation in each, and lets every installation read and continue one shared history.
// Needs npm's registry for the other versions; for the clean roots also root, debootstrap, bwrap and pip. `npm run
// check:install -- 20 22` checks two versions of Node, `-- npm@12` one version of npm, `-- debian musl` only the clean
// roots, `-- here` this machine.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npmSettings, pack, say, sayOn } from '../spec/support/install.js';
import { buildProgram } from './build/program.js';
import {
  checkCommand,
  checkFirstRun,
  checkInstalled,
  checkSharedHistory,
  makeShared,
} from './install/check-machine.js';
import { whyNoRoots } from './install/clean-roots.js';
import { cleanRoot, type Fetched, here, install, type Place } from './install/places.js';

const LIMIT = 3_000_000;
const NODES = ['20.17.0', '20', '22', '24', '26'];
const NPMS = ['10', '11', '12'];
const PLACES = ['here', 'debian', 'musl'];
/** The ways to install the package. */
const WAYS = [
  { title: 'online', args: [], cache: 'cache' },
  { title: 'without install scripts', args: ['--ignore-scripts'], cache: 'cache' },
  { title: 'offline, empty cache', args: ['--offline'], cache: 'no-cache' },
] as const;

const folder = mkdtempSync(join(tmpdir(), 'hi-install-'));
const shared = makeShared(join(folder, 'shared'));
const settings: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  ...npmSettings(),
};
const asked = process.argv.slice(2);
let failures = 0;
let turns = 0;

try {
  await buildProgram();
  const packed = await pack(folder, settings);
  report(packed.bytes < LIMIT, `the package is ${(packed.bytes / 1e6).toFixed(2)} MB`);
  for (const place of places()) {
    for (const version of chosen(NODES, /^(\d[\d.]*)$/)) {
      const node = await place.node(version);
      for (const release of chosen(NPMS, /^npm@(.+)$/)) await checkPair(place, packed.file, node, release);
    }
  }
  console.log(failures === 0 ? `All right: ${turns} installations.` : `${failures} wrong.`);
  process.exitCode = failures === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** The words of a kind that were asked for, all that are known where there are none. */
function chosen(known: readonly string[], kind: RegExp): readonly string[] {
  const wanted = asked.flatMap((word) => kind.exec(word)?.[1] ?? []);
  return wanted.length > 0 ? wanted : known;
}

function places(): readonly Place[] {
  const names = chosen(PLACES, /^([a-z]+)$/);
  const unknown = names.filter((name) => !PLACES.some((known) => known === name));
  if (unknown.length > 0) throw new Error(`'${unknown[0]}' is not a place. Known: ${PLACES.join(', ')}.`);
  const roots = (['debian', 'musl'] as const).filter((name) => names.includes(name));
  const why = roots.length > 0 ? whyNoRoots() : null;
  if (why !== null && asked.some((word) => word === roots[0])) throw new Error(`No clean root: ${why}.`);
  if (why !== null) console.log(`  -      not in clean roots: ${why}`);
  const clean = why === null ? roots : [];
  return [...(names.includes('here') ? [here(fetched)] : []), ...clean.map((name) => cleanRoot(name, folder, fetched))];
}

function report(isRight: boolean, what: string): void {
  console.log(`  ${isRight ? 'ok   ' : 'WRONG'}  ${what}`);
  if (!isRight) failures += 1;
}

/** A file of an npm package, installed into a separate folder. Throws npm's message. */
async function fetched(what: string, file: string): Promise<Fetched> {
  const place = join(folder, what.replace('@', '-'));
  const { status, text } = await say('npm', ['install', '--no-save', '--prefix', place, what], settings, folder);
  if (status !== 0) throw new Error(text);
  return { folder: join(place, 'node_modules'), file };
}

async function checkPair(place: Place, packed: string, node: Fetched, release: string): Promise<void> {
  const npm = await fetched(`npm@${release}`, 'npm/bin/npm-cli.js');
  for (const { title: way, args, cache } of WAYS) {
    const given = { node, npm, packed, cache: join(folder, cache), shared };
    const machine = place.prepare(mkdtempSync(join(folder, 'machine-')), given);
    const [nodeVersion, npmVersion] = await Promise.all(
      [['--version'], [machine.npm, '--version']].map((words) => sayOn(machine, machine.node, words, machine.npmEnv)),
    );
    const versions = `Node ${nodeVersion?.text.trim()}, npm ${npmVersion?.text.trim().split('\n').at(-1)}`;
    if (nodeVersion?.status !== 0) return report(false, `${place.title}: ${versions}`);
    if (npmVersion?.status !== 0 || /does not support/.test(npmVersion.text)) {
      console.log(`${place.title}, ${versions}\n  -      this npm does not run on this Node`);
      return;
    }
    console.log(`${place.title}, ${versions}, ${way}`);
    checkInstalled(await install(machine, args), report);
    await checkFirstRun(machine, report);
    await checkCommand(machine, place.shell, report);
    await checkSharedHistory(machine, turns, report);
    turns += 1;
  }
}
