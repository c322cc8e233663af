import { HiError, systemCode } from '../errors.js';
import { absolutePath } from '../permission/paths/resolve-path.js';
import { judgedFile, type Tool } from './common/tool.js';

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
  async run(_args, { outputLimit }, _emit, _signal, permit) {
    const found = (await judgedFile(permit).list().catch(suggest)).toSorted((one, other) =>
      one.name < other.name ? -1 : 1,
    );
    const shown = found.slice(0, Math.min(MAX_ENTRIES, entriesThatFit(found, outputLimit)));
    const entries = await Promise.all(
      shown.map(async (entry) => ((await entry.isFolder()) ? `${entry.name}/` : entry.name)),
    );
    if (shown.length === found.length) return { entries };
    const note = `The first ${shown.length} of ${found.length} entries. Use bash (ls, find) with a pattern for the rest.`;
    return { entries, total: found.length, truncated: true, note };
  },
};

/** How many of the names fit in that many characters, including quotes and commas. */
function entriesThatFit(found: readonly { readonly name: string }[], characters: number): number {
  let length = 0;
  const tooMany = found.findIndex(({ name }) => {
    length += name.length + '"/",'.length;
    return length > characters;
  });
  return tooMany === -1 ? found.length : tooMany;
}

function suggest(failure: unknown): never {
  if (!(failure instanceof HiError) || systemCode(failure.cause) !== 'ENOTDIR') throw failure;
  throw new HiError('usage', `${failure.message.slice(0, -1)}; read it with read_file.`);
}
