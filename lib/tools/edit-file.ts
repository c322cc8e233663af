import type { JsonObject } from '../chat/json.js';
import { HiError, systemCode } from '../errors.js';
import { absolutePath } from '../permission/paths/resolve-path.js';
import { type JudgedFile, judgedFile, type Tool } from './common/tool.js';
import { OpenableFile } from './files/judged-file.js';
import { changePreview, replaceOnce } from './files/replace-file.js';
import { detectEncoding } from './shell/spill.js';

interface Edit extends JsonObject {
  readonly path: string;
  readonly old: string;
  readonly new: string;
}

/**
 * Replaces one piece of a text file, preserving encoding and line endings. Fails unless the piece occurs exactly once.
 */
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
      preview: async () => changePreview(path, (await applyEdit(edit, await OpenableFile.at(path, edit.path))).text),
    };
  },
  async run(edit, _context, _emit, _signal, permit) {
    const file = judgedFile(permit);
    const { bytes, line } = await applyEdit(edit, file);
    await file.replace(bytes);
    return { success: true, line };
  },
};

/** The new content of the file. Throws a `HiError` if the change cannot be made. */
async function applyEdit(edit: Edit, file: JudgedFile) {
  const before = await file.bytes().catch(suggest);
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

function suggest(failure: unknown): never {
  if (!(failure instanceof HiError) || systemCode(failure.cause) !== 'ENOENT') throw failure;
  throw new HiError('usage', `${failure.message} Use write_file to create it.`);
}
