// A demonstration without a provider: the real program talks to a stand-in server on this machine that gives scripted
// answers. Its configuration and conversation are in a temporary folder that is removed at the end.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { printMessage } from './print-message.js';
import { SMALL_MODEL, startStandIn } from './stand-in.js';

const hi = resolve('dist', 'hi.js');
if (!existsSync(hi)) await (await import('./build/program.js')).buildProgram();

const standIn = await startStandIn();
const home = mkdtempSync(join(tmpdir(), 'hi-demo-'));
const folder = join(home, 'config');
const work = join(home, 'work');
mkdirSync(folder);
mkdirSync(work);
writeFileSync(join(work, 'notes.txt'), 'Buy milk.\nCall Ada about the engine.\n');
const config = {
  provider: 'openai',
  api_base: `${standIn.url}/v1`,
  model: 'stand-in',
  small_model: { model: SMALL_MODEL },
  // A small window, so that a compaction happens after a few questions.
  context_window: 3000,
};
writeFileSync(join(folder, 'config.json'), JSON.stringify(config, null, 2), { mode: 0o600 });

printMessage(`DEMONSTRATION: the answers are scripted and come from a stand-in server on this machine. No model is asked.
Streaming, tools and their approval, compaction and the history file are the real program.
Try: hello · list the files · write a haiku · tell me a long story (twice, for a compaction) · /help · Ctrl-D
`);

const child = spawn(process.execPath, [hi, 'chat'], {
  stdio: 'inherit',
  cwd: work,
  env: { ...process.env, HI_CONFIG_DIR: folder, HI_DATA_DIR: join(home, 'data'), HI_CACHE_DIR: join(home, 'cache') },
});
// Ctrl-C belongs to the chat.
process.on('SIGINT', () => {});
const [status] = await once(child, 'exit');
await standIn.stop();
rmSync(home, { recursive: true, force: true });
process.exitCode = status ?? 1;
