// Part of `npm run lint`: whether `npm ci` can install package-lock.json on every platform.
import { readFileSync } from 'node:fs';
import { lockFaults } from './lock-file.js';

const faults = lockFaults(JSON.parse(readFileSync('package-lock.json', 'utf8')));
for (const fault of faults) console.error(`package-lock.json: ${fault}`);
if (faults.length > 0)
  console.error('Choose versions that the registry has for every platform: docs/dependencies.md, "Exact versions".');
process.exitCode = faults.length > 0 ? 1 : 0;
