// Builds executables that need no Node: `npm run build:binary` for this machine, `npm run build:binary -- darwin-arm64
// linux-x64-musl` for others.
import { statSync } from 'node:fs';
import { relative } from 'node:path';
import { ownPlatform, PLATFORMS } from './build/bun.js';
import { buildExecutable } from './build/executable.js';

const wanted = process.argv.length > 2 ? process.argv.slice(2) : [ownPlatform()];
for (const name of wanted) {
  const platform = PLATFORMS.find((known) => known === name);
  if (platform === undefined) throw new Error(`'${name}' is not a platform. Known: ${PLATFORMS.join(', ')}.`);
  const file = await buildExecutable(platform);
  console.log(`${relative('.', file)}  ${(statSync(file).size / 1e6).toFixed(0)} MB`);
}
