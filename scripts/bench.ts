// Measures what is promised about speed and prints it; `--only PART` for one part, `--write` for docs/performance.md.
import { main } from '../bench/index.js';
import { buildProgram } from './build/program.js';

await buildProgram();
process.exitCode = await main(process.argv.slice(2));
