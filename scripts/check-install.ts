// Installs the packed file into empty prefixes with several Node versions, with and without install scripts, and holds a first conversation in each.
// Needs npm's registry: for other versions of Node than this one, and for zstd-napi. `npm run check:install -- 22` checks one version.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  emptyMachine,
  firstRun,
  type Machine,
  npmSettings,
  pack,
  say,
  warningsOfOurs,
} from '../spec/support/install.js';
import { buildProgram } from './build/program.js';

const LIMIT = 3_000_000;
const folder = mkdtempSync(join(tmpdir(), 'hi-install-'));
const settings: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? '',
  HOME: process.env.HOME ?? '',
  ...npmSettings(),
};
let failures = 0;

try {
  await buildProgram();
  const packed = await pack(folder, settings);
  report(packed.bytes < LIMIT, `the package is ${(packed.bytes / 1e6).toFixed(2)} MB`);
  const versions = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24'];
  for (const version of versions) {
    const node = await nodeOf(version);
    for (const hasScripts of [true, false]) {
      await checkInstall(packed.file, node, join(folder, `machine-${version}-${hasScripts}`), hasScripts);
    }
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

/** The program of that version of Node: this one, or the one that npm's package `node` brings. */
async function nodeOf(version: string): Promise<string> {
  if (process.versions.node.startsWith(`${version}.`)) return process.execPath;
  const place = join(folder, `node-${version}`);
  const args = ['install', '--no-save', '--prefix', place, `node@${version}`];
  const { status, text } = await say('npm', args, settings, folder);
  if (status !== 0) throw new Error(text);
  return join(place, 'node_modules/node/bin/node');
}

async function checkInstall(packed: string, node: string, home: string, hasScripts: boolean): Promise<void> {
  const machine = emptyMachine(home, node);
  const env = { ...machine.env, ...npmSettings() };
  const exact = (await say(node, ['--version'], env)).text.trim();
  console.log(`Node ${exact}, ${hasScripts ? 'with' : 'without'} install scripts`);
  const args = ['install', '--global', '--prefix', machine.prefix, packed];
  const installed = await say('npm', hasScripts ? args : [...args, '--ignore-scripts'], env, machine.home);
  report(installed.status === 0, `npm install: ${/added .*/.exec(installed.text)?.[0] ?? installed.text}`);
  const warnings = warningsOfOurs(installed);
  report(warnings.length === 0, `warnings about hi-chat: ${warnings.length === 0 ? 'none' : warnings.join('\n')}`);
  const others = installed.text.split('\n').filter((line) => /warn/i.test(line) && !warnings.includes(line));
  for (const line of others) console.log(`  -      ${line}`);
  const answered = await say(machine.hi, ['--version'], env);
  report(answered.status === 0, `hi --version: ${answered.text.trim()}`);
  await checkFirstRun(machine, env);
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
