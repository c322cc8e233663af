// Installs the packed file into empty prefixes with several Node versions, with and without install scripts, and holds a first conversation in each.
// Needs npm's registry: for other versions of Node than this one, and for zstd-napi. `npm run check:install -- 22` checks one version.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
process.chdir(root);
await import('./build.js');
// Beside the specs' support, so that what it takes for the root of the project is that.
const helpers = mkdtempSync(join(root, 'spec', '.install-'));
const folder = mkdtempSync(join(tmpdir(), 'hi-install-'));
const LIMIT = 3_000_000;

let failures = 0;
function told(isRight, what) {
  console.log(`  ${isRight ? 'ok   ' : 'WRONG'}  ${what}`);
  if (!isRight) failures += 1;
}

try {
  const outfile = join(helpers, 'install.mjs');
  await build({
    entryPoints: ['spec/support/install.ts'],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
  const { emptyMachine, firstRun, npmSettings, pack, say, warningsOfOurs } = await import(pathToFileURL(outfile).href);
  const settings = { ...process.env, ...npmSettings() };

  /** The program of that version of Node: this one, or the one that npm's package `node` brings. */
  async function nodeOf(version) {
    if (process.versions.node.startsWith(`${version}.`)) return process.execPath;
    const place = join(folder, `node-${version}`);
    const args = ['install', '--no-save', '--prefix', place, `node@${version}`];
    const { status, text } = await say('npm', args, settings, folder);
    if (status !== 0) throw new Error(text);
    return join(place, 'node_modules/node/bin/node');
  }

  const packed = await pack(folder, settings);
  told(packed.bytes < LIMIT, `the package is ${(packed.bytes / 1e6).toFixed(2)} MB`);

  for (const version of process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24']) {
    const node = await nodeOf(version);
    for (const scripts of [true, false]) {
      const machine = emptyMachine(join(folder, `machine-${version}-${scripts}`), node);
      const env = { ...machine.env, ...npmSettings() };
      const exact = (await say(node, ['--version'], env)).text.trim();
      console.log(`Node ${exact}, ${scripts ? 'with' : 'without'} install scripts`);
      const args = ['install', '--global', '--prefix', machine.prefix, packed.file];
      const installed = await say('npm', scripts ? args : [...args, '--ignore-scripts'], env, machine.home);
      told(installed.status === 0, `npm install: ${/added .*/.exec(installed.text)?.[0] ?? installed.text}`);
      const warnings = warningsOfOurs(installed);
      told(warnings.length === 0, `warnings about hi-chat: ${warnings.length === 0 ? 'none' : warnings.join('\n')}`);
      const others = installed.text.split('\n').filter((line) => /warn/i.test(line) && !warnings.includes(line));
      for (const line of others) console.log(`  -      ${line}`);
      const answered = await say(machine.hi, ['--version'], env);
      told(answered.status === 0, `hi --version: ${answered.text.trim()}`);
      const zstd = /^(?:ok|wrong) +zstd: (.*)/m.exec((await say(machine.hi, ['config', 'check'], env)).text)?.[1];
      const hasOwn =
        (await say(node, ['-e', 'process.exit(require("zlib").zstdCompressSync ? 0 : 1)'], env)).status === 0;
      if (scripts || hasOwn) {
        const run = await firstRun(machine).catch((error) => ({ status: 1, screen: error.message }));
        told(run.status === 0, run.status === 0 ? `the first run is a conversation (zstd: ${zstd})` : run.screen);
      } else {
        const { status, text } = await say(machine.hi, ['ask', 'x'], { ...env, OPENAI_API_KEY: 'k' });
        told(status === 7 && text.includes('Node 22.15'), `no zstd, hi ask says: ${text.trim()}`);
      }
    }
  }
  console.log(failures === 0 ? 'All right.' : `${failures} wrong.`);
  process.exitCode = failures === 0 ? 0 : 1;
} finally {
  rmSync(helpers, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
}
