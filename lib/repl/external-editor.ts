import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HiError } from '../errors.js';

/**
 * Opens the text in the user's editor, which gets the terminal, and resolves to what was saved, without the newline that editors put at the end
 * and with `\r\n` only where the text came with it.
 * `editor` may have options (`code --wait`), so a shell reads it. Rejects with a `HiError` (usage) when it cannot be started or fails.
 */
export async function editExternally(text: string, editor: string | null): Promise<string> {
  if (editor === null) {
    throw new HiError('usage', 'No editor is set.', { hint: 'Set VISUAL or EDITOR, for example: export EDITOR=nano' });
  }
  const folder = await mkdtemp(join(tmpdir(), 'hi-'));
  try {
    const file = join(folder, 'message.md');
    await writeFile(file, text, { mode: 0o600 });
    const status = await run(editor, file);
    if (status !== 0) {
      throw new HiError('usage', `The editor '${editor}' ended with status ${status}.`, {
        hint: 'The line is as it was.',
      });
    }
    const saved = (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
    return text.includes('\r\n') ? saved : saved.replaceAll('\r\n', '\n');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function run(editor: string, file: string): Promise<number> {
  const { spawn } = await import('node:child_process');
  return await new Promise((resolve, reject) => {
    const child = spawn('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' });
    child.on('error', reject).on('close', (status) => resolve(status ?? 1));
  });
}
