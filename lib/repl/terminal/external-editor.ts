import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { HiError } from '../../errors.js';
import { ownEnvironment, shellCommand } from '../../processes.js';

/**
 * Opens the text in the user's editor, which takes over the terminal, and resolves to the saved text. The newline that
 * editors add at the end is removed, and `\r\n` stays only if the text already had it. The editor may have options
 * (`code --wait`), so a shell runs it. If none is chosen, it is the first of nano, vim and vi that is installed.
 * Rejects with a `HiError` (usage) when there is none or it fails.
 */
export async function editExternally(text: string, chosen: string | null): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'hi-'));
  try {
    const file = join(folder, 'message.md');
    await writeFile(file, text, { mode: 0o600 });
    await openInEditor(file, chosen);
    const saved = (await readFile(file, 'utf8')).replace(/\r?\n$/, '');
    return text.includes('\r\n') ? saved : saved.replaceAll('\r\n', '\n');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Opens a file in the editor, like `editExternally`. Resolves when the user has left. */
export async function openInEditor(file: string, chosen: string | null): Promise<void> {
  const editor = chosen ?? installedEditor();
  if (editor === null) {
    throw new HiError('usage', 'No editor is set, and none of nano, vim and vi is installed.', {
      hint: 'Set VISUAL or EDITOR, for example: export EDITOR=emacs',
    });
  }
  const status = await run(editor, file);
  if (status !== 0) {
    throw new HiError('usage', `The editor '${editor}' exited with status ${status}.`, {
      hint: 'The text is unchanged. Check VISUAL and EDITOR.',
    });
  }
}

function installedEditor(): string | null {
  if (process.platform === 'win32') return 'notepad';
  const folders = (process.env.PATH ?? '').split(delimiter);
  return ['nano', 'vim', 'vi'].find((name) => folders.some((folder) => existsSync(join(folder, name)))) ?? null;
}

async function run(editor: string, file: string): Promise<number> {
  return await new Promise((resolve, reject) => {
    const { file: shell, args, options } = shellCommand(editor, [file]);
    const child = spawn(shell, args, { ...options, stdio: 'inherit', env: ownEnvironment() });
    child.on('error', reject).on('close', (status) => resolve(status ?? 1));
  });
}
