// Measures and prints the promised performance figures; `--only PART` measures one part, `--write` updates
// docs/performance.md.
import { main } from '../bench/index.js';
import { buildProgram } from './build/program.js';

await buildProgram();
process.exitCode = await main(process.argv.slice(2));
