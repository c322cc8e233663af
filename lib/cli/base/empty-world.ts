import { PassThrough } from 'node:stream';
import type { World } from './world.js';

/** A world that reads and writes nothing: enough to list the commands. */
export function emptyWorld(): World {
  const nothing = new PassThrough();
  return {
    argv: [],
    env: {},
    cwd: '/',
    home: '/',
    host: '',
    stdin: nothing,
    stdinIs: 'nothing',
    stdout: nothing,
    stderr: nothing,
    print: () => undefined,
    now: () => new Date(0),
    onStop: () => () => undefined,
  };
}
