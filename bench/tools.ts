import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import type { Row } from './row.js';

/** What tools cost: the memory for a long output, and the time to judge a command, to confine it and to stop it. */
export async function rows(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'hi-bench-tools-'));
  try {
    await bundle(join(folder, 'program.mjs'));
    return [
      ...memory(folder),
      {
        what: 'judging the first command (parser loaded)',
        value: measured(folder, 'first').value,
        unit: 'ms',
        limit: 150,
      },
      { what: 'judging a later command', value: measured(folder, 'later').value, unit: 'ms', limit: 5 },
      ...sandboxed(folder),
      { what: 'stopping a running command', value: measured(folder, 'stop').value, unit: 'ms', limit: 100 },
      { what: 'stopping one that ignores signals', value: measured(folder, 'stubborn').value, unit: 'ms', limit: 1000 },
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The cost of the sandbox: how much longer a command takes inside than outside, the lower quartile of alternating runs.
 * The project has 4000 files.
 */
function sandboxed(folder: string): readonly Row[] {
  const inside = measured(folder, 'inside');
  return [
    { what: 'the sandbox, for one command', value: inside.value, unit: 'ms', limit: 15 },
    {
      what: 'finding the private files of a project the first time',
      value: measured(folder, 'places').value,
      unit: 'ms',
    },
    { what: 'peak memory of judging and the sandbox', value: inside.peak, unit: 'MB', limit: 150 },
  ];
}

function memory(folder: string): readonly Row[] {
  const { value, peak } = measured(folder, 'output');
  return [
    { what: 'peak memory while a command prints 1 GB', value: peak, unit: 'MB', limit: 150 },
    { what: 'time for it', value, unit: 'ms' },
    { what: 'peak memory while one prints a word', value: measured(folder, 'word').peak, unit: 'MB' },
  ];
}

/** A program that does one of these things, and prints the time and the peak memory. */
const PROGRAM = `
import { createToolRunner, tools } from './lib/tools/index.js';
const [what, folder] = process.argv.slice(2);
const context = { cwd: { start: folder, now: folder }, env: process.env, timeout: 300000, outputLimit: 30000, spillFolder: folder + '/spill' };
const make = (allowAll) => createToolRunner({ tools, context, permissions: { allow: ['bash(git status:*)'], ask: [], deny: [] },
  approve: async () => ({ answer: 'no' }), allowAll, remember: async () => {}, secrets: [] });
const run = async (command, signal = new AbortController().signal, allowAll = true) => {
  for await (const event of make(allowAll).run([{ type: 'tool_call', call_id: 'a', name: 'bash', args: { command } }], signal))
    if (event.type === 'tool-output') seen?.();
};
let seen = null;
let begin = performance.now();
if (what === 'output') await run('yes "the quick brown fox jumps over 13 lazy dogs" | head -c 1000000000');
if (what === 'word') await run('echo word');
if (what === 'first') await run('cd src && make -j4 | tee log', undefined, false);
if (what === 'later') {
  await run('make', undefined, false);
  const times = [];
  for (let round = 0; round < 100; round += 1) {
    begin = performance.now();
    await run('cd src && make -j4 | tee log' + round, undefined, false);
    times.push(performance.now() - begin);
  }
  begin = performance.now() - times.sort((one, other) => one - other)[50];
}
if (what === 'inside' || what === 'places') {
  const { spawnSync } = await import('node:child_process');
  const { mkdirSync, openSync, writeFileSync } = await import('node:fs');
  const { Sandbox } = await import('./lib/permission/sandbox/sandbox.js');
  const root = folder + '/project-' + what;
  for (let sub = 0; sub < 200; sub += 1) {
    mkdirSync(root + '/' + sub, { recursive: true });
    for (let file = 0; file < 20; file += 1) writeFileSync(root + '/' + sub + '/' + file + '.ts', '');
  }
  mkdirSync(root + '/.git');
  writeFileSync(root + '/.env', '');
  writeFileSync(folder + '/empty', '');
  const rules = { subjects: [], deny: [], ask: [], allow: [] };
  const sandbox = new Sandbox({ root, ownPlaces: [], freeFolders: [], env: process.env, fileOf: () => folder + '/empty', rules: () => rules });
  begin = performance.now();
  await sandbox.confine({ write: true, network: false, read: [], files: [] }, root);
  if (what === 'inside') {
    const once = async (confined) => {
      const start = performance.now();
      const { wrapper = [], filter } = confined ? await sandbox.confine({ write: true, network: false, read: [], files: [] }, root) : {};
      if (filter) writeFileSync(folder + '/filter', filter);
      const [program, ...rest] = [...wrapper, 'bash', '-c', 'true'];
      spawnSync(program, rest, { stdio: ['ignore', 'pipe', 'pipe', 'ignore', confined ? openSync(folder + '/filter') : 'ignore'] });
      return performance.now() - start;
    };
    const differences = [];
    for (let round = 0; round < 60; round += 1) differences.push((await once(true)) - (await once(false)));
    begin = performance.now() - differences.sort((one, other) => one - other)[15];
  }
}
if (what === 'stop' || what === 'stubborn') {
  const stop = new AbortController();
  seen = () => { begin = performance.now(); stop.abort(); };
  await run((what === 'stubborn' ? "trap '' INT TERM HUP; " : '') + 'echo ready; while :; do sleep 1; done', stop.signal);
}
console.log(JSON.stringify({ value: performance.now() - begin, peak: process.resourceUsage().maxRSS / 1024 }));
`;

async function bundle(outfile: string): Promise<void> {
  await build({
    stdin: { contents: PROGRAM, resolveDir: resolve(import.meta.dirname, '..'), loader: 'js' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile,
    banner: { js: "import{createRequire as hiRequire}from'node:module';const require=hiRequire(import.meta.url);" },
  });
}

function measured(folder: string, what: string): { readonly value: number; readonly peak: number } {
  const { stdout, stderr } = spawnSync('node', [join(folder, 'program.mjs'), what, folder], { encoding: 'utf8' });
  const { value, peak }: Record<string, unknown> = JSON.parse(stdout || `{"failure":${JSON.stringify(stderr)}}`);
  if (typeof value !== 'number' || typeof peak !== 'number') throw new Error(`'${what}' was not measured: ${stderr}`);
  return { value: Math.round(value * 10) / 10, peak: Math.round(peak) };
}
