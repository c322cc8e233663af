import { bun } from '../lib/bun.js';
import { asksForVersion, VERSION } from '../lib/cli/base/version.js';

// The executable has only this entry: its main thread is the program, and its worker threads scale pictures. Its
// version needs nothing else, so nothing is loaded.
if (!bun.isMainThread) void import('../lib/cli/executable/thread.js');
else if (asksForVersion(process.argv.slice(2))) console.log(VERSION);
else void import('../lib/cli/executable/run-executable.js').then(({ runExecutable }) => runExecutable());
