import { bun } from '../lib/bun.js';
import { directOutput } from '../lib/cli/base/direct-output.js';
import { realWorld } from '../lib/cli/base/world.js';
import { main } from '../lib/cli/main.js';

// The executable has only this entry: its main thread is the program, and its worker threads scale pictures.
if (bun.isMainThread) {
  const outputs = new Map<'stdout' | 'stderr', ReturnType<typeof directOutput>>();
  const output = (name: 'stdout' | 'stderr') => {
    const found = outputs.get(name) ?? directOutput(name);
    outputs.set(name, found);
    return found;
  };
  const world = Object.defineProperties(realWorld(), {
    stdout: { get: () => output('stdout') },
    stderr: { get: () => output('stderr') },
  });
  void main(world).then((status) => {
    process.exitCode = status;
  });
} else void import('../lib/cli/base/thread.js');
