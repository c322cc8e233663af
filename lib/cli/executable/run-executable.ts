import { realWorld } from '../base/world.js';
import { main } from '../main.js';
import { directOutput } from './direct-output.js';

/** Runs the program with the outputs of the executable, and sets the exit status of the process. */
export async function runExecutable(): Promise<void> {
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
  process.exitCode = await main(world);
}
