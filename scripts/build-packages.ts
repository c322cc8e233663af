// Builds the packages of a release from the executables: `npm run build:packages`. With the address that the files will
// have, also a Homebrew formula: `npm run build:packages -- https://…/releases/download/v0.1.0`.
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { PLATFORMS } from './build/bun.js';
import { EXECUTABLES } from './build/executable.js';
import { buildProgram } from './build/program.js';
import { makePackages, PACKAGES } from './packages/make-packages.js';

const [address = null] = process.argv.slice(2);
const platforms = PLATFORMS.filter((platform) =>
  existsSync(join(EXECUTABLES, `hi-${platform}${platform.startsWith('windows') ? '.exe' : ''}`)),
);
if (platforms.length === 0)
  throw new Error(`There is no executable in '${relative('.', EXECUTABLES)}'. Run npm run build:binary.`);
await buildProgram();
for (const file of makePackages(EXECUTABLES, PACKAGES, platforms, address)) console.log(relative('.', file));
