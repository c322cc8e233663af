// Starts the first conversation: runs `hi` if there is a configuration, a vendor's key or Ollama, else the
// demonstration.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { printMessage } from './print-message.js';

const hi = resolve('dist', 'hi.js');
if (!existsSync(hi)) await (await import('./build/program.js')).buildProgram();

const shown = spawnSync(process.execPath, [hi, 'config', 'show'], { encoding: 'utf8' });
const paths = spawnSync(process.execPath, [hi, 'config', 'path', '--json'], { encoding: 'utf8' });
const file: string = JSON.parse(paths.stdout).config_file;

// A server without a model is enough: `hi` offers to download one.
if (shown.status === 0 || existsSync(file) || shown.stderr.includes('has no model')) {
  process.exitCode = spawnSync(process.execPath, [hi, ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 1;
} else {
  printMessage(
    `No configuration at '${file}', no API key in the environment, and Ollama does not answer on this machine.
Starting a demonstration instead. For real conversations, run 'node dist/hi.js config init', or set a key (OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY) and start again.
`,
  );
  await import('./demo.js');
}
