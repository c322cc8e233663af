import { absolutePath } from '../permission/paths/resolve-path.js';
import { judgedFile, type Tool } from './common/tool.js';
import { changePreview } from './files/replace-file.js';

/** Writes a file atomically. */
export const writeFile: Tool<{ readonly path: string; readonly content: string }> = {
  name: 'write_file',
  accessKind: 'write',
  rulesCoverKind: true,
  effect: { kind: 'write', argument: 'path' },
  description: 'Creates a file, with its parent folders, or replaces all of it. Use edit_file to change a part.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', minLength: 1, description: 'The file, relative to the working folder.' },
      content: { type: 'string', description: 'The whole content of the file.' },
    },
    required: ['path', 'content'],
    additionalProperties: false,
  },
  access({ path, content }, { cwd }) {
    const absolute = absolutePath(path, cwd.now);
    return { kind: 'write', path: absolute, preview: () => changePreview(absolute, content) };
  },
  async run({ content }, _context, _emit, _signal, permit) {
    const created = await judgedFile(permit).replace(content);
    return created ? { success: true, created: true } : { success: true };
  },
};
