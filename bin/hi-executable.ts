import { isMainThread } from 'node:worker_threads';
import { realWorld } from '../lib/cli/base/world.js';
import { main } from '../lib/cli/main.js';

// The executable is one file: what is the program in the first thread scales pictures in any other.
if (isMainThread) {
  void main(realWorld()).then((status) => {
    process.exitCode = status;
  });
} else void import('../lib/cli/base/thread.js');
