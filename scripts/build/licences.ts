import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The packages of which the build keeps only data. No bundle names them. */
const DATA = ['@pydantic/genai-prices', 'opencc-js'];

const LINE = `\n${'-'.repeat(80)}\n\n`;

/**
 * The licences of the packages that are bundled, each with the texts that its package contains. `inputs` are the paths
 * of the bundled files.
 */
export function licencesOf(inputs: readonly string[]): string {
  const folders = new Set([...inputs.flatMap(packageFolder), ...DATA.map((name) => `node_modules/${name}`)]);
  return [...folders].sort().map(licenceOf).join(LINE);
}

function packageFolder(path: string): readonly string[] {
  const found = /^((?:[^:?]*\/)?node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path);
  return found?.[1] === undefined ? [] : [found[1]];
}

/** Throws for a package that names no licence. */
function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (typeof license !== 'string') throw new Error(`The package '${folder}' names no licence.`);
  const files = readdirSync(folder).filter((file) => /(?:^|[_-])(?:licen[cs]es?|copying|notices?)\b/i.test(file));
  const texts = files
    .map((file) => join(folder, file))
    .filter((path) => statSync(path).isFile())
    .map((path) => `\n${readFileSync(path, 'utf8').trim()}\n`);
  return [`${name} ${version} (${license})\n`, ...texts].join('');
}
