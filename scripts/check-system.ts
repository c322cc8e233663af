// Holds a conversation with the built program on any system: with a history, a tool, a key command, and two programs at
// the same time. Needs no network. `npm run check:system`; .github/workflows/systems.yml runs it on three systems.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chatServer } from '../spec/support/vendor-server.js';
import { dialects } from '../spec/support/vendors.js';

const hi = resolve('dist', 'hi.js');
const folder = mkdtempSync(join(tmpdir(), 'hi-system-'));
const work = join(folder, 'a folder');
mkdirSync(work);
let wrong = 0;

try {
  const [chat] = dialects;
  if (chat === undefined) throw new Error('There is no vendor to imitate.');
  const call = chat.tools({ name: 'bash', args: { command: 'cd .. && echo "by $0"; exit 3' } });
  await using server = await chatServer(call, chat.text('Done.'), chat.text('Fine.'));
  writeConfig(`${server.url}/v1`);
  await expectRun('the version', ['--version'], /^\d+\.\d+\.\d+\s*$/);
  await expectRun('the check', ['config', 'check'], /ok +data folder:/);
  await expectRun('a command of the model', ['ask', '-y', 'run it'], /Done\./);
  await expectRun('its result in the history', ['history', '--json'], /"exit_code":3|no bash on this system/);
  const both = [1, 2].map((count) => expectRun(`one of two at once (${count})`, ['ask', `at once ${count}`], /Fine\./));
  await Promise.all(both);
  await expectRun('both in the history', ['history'], /at once 1[\s\S]*at once 2|at once 2[\s\S]*at once 1/);
  await expectRun('the export', ['status', '--json'], /"messages"/);
  report(existsSync(join(folder, 'data', 'history.json.zst')), 'the history is where it should be');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = wrong === 0 ? 0 : 1;

function writeConfig(api_base: string): void {
  const key = process.platform === 'win32' ? '!echo the-key' : "!printf 'the-key\\n'";
  const config = { provider: 'openai', model: 'm', api_base, api_key: key };
  mkdirSync(join(folder, 'config'));
  writeFileSync(join(folder, 'config', 'config.json'), JSON.stringify(config), { mode: 0o600 });
}

async function expectRun(what: string, args: readonly string[], wanted: RegExp): Promise<void> {
  const places = ['config', 'data', 'cache'].map((name) => [`HI_${name.toUpperCase()}_DIR`, join(folder, name)]);
  const child = spawn(process.execPath, [hi, ...args], {
    cwd: work,
    env: { ...process.env, ...Object.fromEntries(places) },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  });
  const pieces: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece: Buffer) => pieces.push(piece));
  const [status] = await once(child, 'close');
  const text = Buffer.concat(pieces).toString();
  report(status === 0 && wanted.test(text), status === 0 && wanted.test(text) ? what : `${what}: ${status}\n${text}`);
}

function report(isRight: boolean, what: string): void {
  console.log(`${isRight ? 'ok   ' : 'WRONG'}  ${what}`);
  if (!isRight) wrong += 1;
}
