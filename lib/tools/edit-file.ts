import { constants } from 'node:fs';
import type { JsonObject } from '../chat/json.js';
import { HiError, systemCode } from '../errors.js';
import { absolutePath, type JudgedPlace, judgedPlace } from '../permission/paths/resolve-path.js';
import type { Tool } from './common/tool.js';
import { openJudged } from './files/open-judged.js';
import { changePreview, replaceFile, replaceOnce } from './files/replace-file.js';
import { detectEncoding } from './shell/spill.js';

interface Edit extends JsonObject {
  readonly path: string;
  readonly old: string;
  readonly new: string;
}

/** Replaces one piece of a text file, preserving encoding and line endings. Fails unless the piece occurs exactly once. */
export const editFile: Tool<Edit> = {
  name: 'edit_file',
  accessKind: 'write',
  rulesCoverKind: false,
  effect: { kind: 'write', argument: 'path' },
  description:
    'Replaces `old` in a text file by `new`. `old` must occur exactly as written, white space included, and only once: include lines around it to make it unique.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', minLength: 1, description: 'The file, relative to the working folder.' },
      old: { type: 'string', minLength: 1, description: 'The text to replace.' },
      new: { type: 'string', description: 'The replacement; empty to delete the text.' },
    },
    required: ['path', 'old', 'new'],
    additionalProperties: false,
  },
  access(edit, { cwd }) {
    const path = absolutePath(edit.path, cwd.now);
    return {
      kind: 'write',
      path,
      preview: async () => changePreview(path, (await applyEdit(edit, await judgedPlace(path, '/'))).text),
    };
  },
  async run(edit, { cwd }, _emit, _signal, permit) {
    const judged = permit?.place ?? (await judgedPlace(edit.path, cwd.now));
    const { bytes, line } = await applyEdit(edit, judged);
    await replaceFile(judged, bytes);
    return { success: true, line };
  },
};

/** The new content of the file. Throws a `HiError` if the change cannot be made. */
async function applyEdit(edit: Edit, place: JudgedPlace) {
  const before = await readJudged(place).catch((failure) => explain(failure, edit.path));
  const encoding = await detectEncoding(before, true);
  if (encoding.kind === 'binary')
    throw new HiError('usage', `Cannot edit '${edit.path}': it is not text (${encoding.what}).`);
  if (encoding.name !== 'utf-8' && encoding.name !== 'utf-16le')
    throw new HiError(
      'usage',
      `Cannot edit '${edit.path}': it is encoded in ${encoding.name}. Only UTF-8 and UTF-16 can be edited.`,
    );
  const { text, line } = replaceOnce(new TextDecoder(encoding.name).decode(before), edit);
  const marked = encoding.mark > 0 ? `\ufeff${text}` : text;
  return { text, line, bytes: Buffer.from(marked, encoding.name === 'utf-8' ? 'utf8' : 'utf16le') };
}

async function readJudged(place: JudgedPlace): Promise<Buffer> {
  const file = await openJudged(place, constants.O_RDONLY);
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
}

function explain(failure: unknown, path: string): never {
  const code = systemCode(failure);
  if (code === 'ENOENT') throw new HiError('usage', `There is no file '${path}'. Use write_file to create it.`);
  if (code === 'EISDIR') throw new HiError('usage', `'${path}' is a folder.`);
  if (code === 'EACCES' || code === 'EPERM') throw new HiError('usage', `Cannot read '${path}': permission denied.`);
  throw failure;
}
