// Installs the packed file into empty prefixes with each npm and each Node that go together, online, without install scripts, and without a network from an
// empty cache; holds a first conversation in each, and lets every installation read and continue one history that they share.
// Needs npm's registry for the other versions. `npm run check:install -- 20 22` checks two versions of Node, `-- npm@12` one of npm.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import {
  emptyMachine,
  firstRun,
  type Machine,
  npmSettings,
  pack,
  type Said,
  say,
  warningsOfOurs,
} from '../spec/support/install.js';
import { openVendorHouse } from '../spec/support/vendor-house.js';
import { buildProgram } from './build/program.js';

const LIMIT = 3_000_000;
const NODES = ['20', '22', '24', '26'];
const NPMS = ['10', '11', '12'];
/** How a package can be installed. */
const WAYS = [
  { title: 'online', args: [], cache: 'cache' },
  { title: 'without install scripts', args: ['--ignore-scripts'], cache: 'cache' },
  { title: 'offline, empty cache', args: ['--offline'], cache: 'no-cache' },
] as const;

const folder = mkdtempSync(join(tmpdir(), 'hi-install-'));
const shared = join(folder, 'shared');
const settings: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  ...npmSettings(),
};
const asked = process.argv.slice(2);
const only = (known: readonly string[], wanted: readonly string[]): readonly string[] =>
  wanted.length > 0 ? wanted : known;
let failures = 0;
let turns = 0;

try {
  await buildProgram();
  const packed = await pack(folder, settings);
  report(packed.bytes < LIMIT, `the package is ${(packed.bytes / 1e6).toFixed(2)} MB`);
  const nodes = only(
    NODES,
    asked.filter((word) => /^\d+$/.test(word)),
  );
  const npms = only(
    NPMS,
    asked.filter((word) => word.startsWith('npm@')).map((word) => word.slice('npm@'.length)),
  );
  for (const version of nodes) {
    const node = await fetched(`node@${version}`, 'node_modules/node/bin/node');
    for (const release of npms) await checkPair(packed.file, node, release);
  }
  console.log(failures === 0 ? 'All right.' : `${failures} wrong.`);
  process.exitCode = failures === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function report(isRight: boolean, what: string): void {
  console.log(`  ${isRight ? 'ok   ' : 'WRONG'}  ${what}`);
  if (!isRight) failures += 1;
}

/** A file of a package of npm's, installed by itself into a folder of its own. Throws what npm said. */
async function fetched(what: string, file: string): Promise<string> {
  const place = join(folder, what.replace('@', '-'));
  const { status, text } = await say('npm', ['install', '--no-save', '--prefix', place, what], settings, folder);
  if (status !== 0) throw new Error(text);
  return join(place, file);
}

async function checkPair(packed: string, node: string, release: string): Promise<void> {
  const npm = await fetched(`npm@${release}`, 'node_modules/npm/bin/npm-cli.js');
  const path = { PATH: [dirname(node), settings.PATH].join(delimiter) };
  const [nodeVersion, npmVersion] = await Promise.all(
    [['--version'], [npm, '--version']].map((args) => say(node, args, { ...settings, ...path })),
  );
  const title = `Node ${nodeVersion?.text.trim()}, npm ${npmVersion?.text.trim().split('\n').at(-1)}`;
  if (npmVersion?.status !== 0 || /does not support/.test(npmVersion.text)) {
    console.log(`${title}\n  -      this npm does not run on this Node`);
    return;
  }
  for (const { title: way, args, cache } of WAYS) {
    console.log(`${title}, ${way}`);
    const machine = emptyMachine(mkdtempSync(join(folder, 'machine-')), node);
    const env = { ...machine.env, ...npmSettings(), npm_config_cache: join(folder, cache) };
    const install = [npm, 'install', '--global', '--prefix', machine.prefix, ...args, packed];
    await checkInstalled(machine, env, await say(node, install, env, machine.home));
  }
}

async function checkInstalled(machine: Machine, env: Readonly<Record<string, string>>, installed: Said): Promise<void> {
  report(installed.status === 0, `npm install: ${/added .*/.exec(installed.text)?.[0] ?? installed.text}`);
  const warnings = warningsOfOurs(installed);
  report(warnings.length === 0, `warnings about hi-chat: ${warnings.length === 0 ? 'none' : warnings.join('\n')}`);
  const others = installed.text.split('\n').filter((line) => /warn/i.test(line) && !warnings.includes(line));
  for (const line of others) console.log(`  -      ${line}`);
  await checkFirstRun(machine, env);
  await checkSharedHistory(machine);
}

async function checkFirstRun(machine: Machine, env: Readonly<Record<string, string>>): Promise<void> {
  const zstd = /^(?:ok|wrong) +zstd: (.*)/m.exec((await say(machine.hi, ['config', 'check'], env)).text)?.[1];
  try {
    const { status, screen } = await firstRun(machine);
    report(status === 0, status === 0 ? `the first run is a conversation (zstd: ${zstd})` : screen);
  } catch (thrown) {
    report(false, String(thrown));
  }
}

/** One more turn in the history that all installations share; all turns before it must still be read. */
async function checkSharedHistory(machine: Machine): Promise<void> {
  await using house = await openVendorHouse('openai', { key: 'sk-shared', text: 'Noted.' });
  const places = ['config', 'data', 'cache'].map(
    (name) => [`HI_${name.toUpperCase()}_DIR`, join(shared, name)] as const,
  );
  for (const [, place] of places) mkdirSync(place, { recursive: true });
  const key = { OPENAI_API_KEY: 'sk-shared', OPENAI_BASE_URL: house.base };
  const env = { ...machine.env, ...Object.fromEntries(places), ...key };
  const turn = turns;
  turns += 1;
  const answered = await say(machine.hi, ['ask', `question ${turn}`], env);
  const { text } = await say(machine.hi, ['history', '--json', '-n', '100000'], env);
  const missing = Array.from({ length: turns }, (_, index) => `question ${index}`).filter(
    (question) => !text.includes(`"${question}"`),
  );
  const isRight = answered.status === 0 && missing.length === 0;
  report(
    isRight,
    isRight ? `reads the ${turns} turns of all before it` : `${answered.text}\nmissing: ${missing.join(', ')}`,
  );
}
