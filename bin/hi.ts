#!/usr/bin/env node
import { realWorld } from '../lib/cli/base/world.js';
import { main } from '../lib/cli/main.js';

// Stays if nothing is left to wait for and `main` has not ended, as Node does it for ES modules.
process.exitCode = 13;
void main(realWorld()).then((status) => {
  process.exitCode = status;
});
