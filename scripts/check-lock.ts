// Part of `npm run lint`: whether `npm ci` can install package-lock.json on every platform.
import { readFileSync } from 'node:fs';
import { lockFaults } from './lock-file.js';

const faults = lockFaults(read('package-lock.json'), read('package.json'));
for (const fault of faults) console.error(`package-lock.json: ${fault}`);
if (faults.length > 0)
  console.error(
    'Choose versions that the registry has for every platform and that run on the oldest Node: docs/dependencies.md, "Exact versions".',
  );
process.exitCode = faults.length > 0 ? 1 : 0;

function read(file: string) {
  return JSON.parse(readFileSync(file, 'utf8'));
}
