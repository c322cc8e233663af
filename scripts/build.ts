import { buildProgram } from './build/program.js';

await buildProgram();
