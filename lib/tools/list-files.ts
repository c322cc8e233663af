import { constants, type Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { HiError, systemCode } from '../errors.js';
import { absolutePath, type JudgedPlace, judgedPlace } from '../permission/paths/resolve-path.js';
import type { Tool } from './common/tool.js';
import { openJudged } from './files/open-judged.js';

/** How many names are listed; fewer if they exceed the output limit. The result states the total. */
const MAX_ENTRIES = 1000;

/** Lists a folder, sorted by name; folders, and links to folders, end in `/`. */
export const listFiles: Tool<{ readonly path: string }> = {
  name: 'list_files',
  accessKind: 'read',
  rulesCoverKind: false,
  effect: null,
  description: 'Lists the files in a folder, including hidden ones. Folders end in "/".',
  parameters: {
    type: 'object',
    properties: { path: { type: 'string', minLength: 1, description: 'The folder; "." is the working folder.' } },
    required: ['path'],
    additionalProperties: false,
  },
  access: ({ path }, { cwd }) => ({ kind: 'read', path: absolutePath(path, cwd.now), isFolder: true }),
  async run({ path }, { cwd, outputLimit }, _emit, _signal, permit) {
    const judged = permit?.place ?? (await judgedPlace(path, cwd.now));
    const folder = judged.path;
    const found = await entriesOf(judged).catch((failure) => explain(failure, path));
    found.sort((one, other) => (one.name < other.name ? -1 : 1));
    const shown = found.slice(0, Math.min(MAX_ENTRIES, entriesThatFit(found, outputLimit)));
    const entries = await Promise.all(
      shown.map(async (entry) => {
        const isFolder =
          entry.isDirectory() || (entry.isSymbolicLink() && (await leadsToFolder(join(folder, entry.name))));
        return isFolder ? `${entry.name}/` : entry.name;
      }),
    );
    if (shown.length === found.length) return { entries };
    const note = `The first ${shown.length} of ${found.length} entries. Use bash (ls, find) with a pattern for the rest.`;
    return { entries, total: found.length, truncated: true, note };
  },
};

/** The entries of the folder that was judged. */
async function entriesOf(place: JudgedPlace): Promise<Dirent[]> {
  const folder = await openJudged(place, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const path = process.platform === 'linux' ? `/proc/self/fd/${folder.fd}` : place.path;
    return await readdir(path, { withFileTypes: true });
  } finally {
    await folder.close();
  }
}

/** How many of the names fit in that many characters, including quotes and commas. */
function entriesThatFit(found: readonly { readonly name: string }[], characters: number): number {
  let length = 0;
  const tooMany = found.findIndex(({ name }) => {
    length += name.length + '"/",'.length;
    return length > characters;
  });
  return tooMany === -1 ? found.length : tooMany;
}

async function leadsToFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}

function explain(failure: unknown, path: string): never {
  const code = systemCode(failure);
  if (code === 'ENOENT') throw new HiError('usage', `There is no folder '${path}'.`);
  if (code === 'ENOTDIR') throw new HiError('usage', `'${path}' is a file; read it with read_file.`);
  if (code === 'EACCES' || code === 'EPERM') throw new HiError('usage', `Cannot list '${path}': permission denied.`);
  throw failure;
}
