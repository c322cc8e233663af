import { promisify } from 'node:util';
import { HiError, isAbort } from '../errors.js';
import { shellCommand } from '../shell-command.js';

/**
 * The key itself: `"!command"` is run by the shell and its first line of output taken, so that a password manager can hold it.
 * Throws a `HiError` of code `config` that names the command when it fails or prints nothing. `signal` ends it, since it may wait to be unlocked.
 */
export async function readKey(key: string | null, signal?: AbortSignal): Promise<string | null> {
  if (key === null) return null;
  if (!key.startsWith('!')) return checkKey(key.trim());
  const command = key.slice(1);
  const printed = await output(command, signal);
  const line = printed.split('\n')[0]?.trim() ?? '';
  if (line === '') {
    throw new HiError('config', `The key command printed nothing: '${command}'.`, {
      hint: 'Run it in a shell to see why. It is api_key in config.json.',
    });
  }
  return checkKey(line);
}

/** Keys go into header fields, which take visible ASCII only. A line break or a typographic quote is pasted with a key easily. */
function checkKey(key: string): string {
  const wrong = /[^\x21-\x7e]/u.exec(key);
  if (wrong === null) return key;
  const code = `U+${(wrong[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  throw new HiError('config', `The key has an invalid character at position ${wrong.index + 1}: ${code}.`, {
    hint: 'Copy the key again, without quotes or line breaks.',
  });
}

async function output(command: string, signal?: AbortSignal): Promise<string> {
  try {
    const { execFile } = await import('node:child_process');
    const { file, args, options } = shellCommand(command);
    return (await promisify(execFile)(file, args, { ...options, timeout: 60_000, signal })).stdout;
  } catch (cause) {
    if (isAbort(cause)) throw cause;
    throw new HiError('config', `The key command failed: '${command}'.`, {
      hint: 'Run it in a shell to see why. It is api_key in config.json.',
      cause,
    });
  }
}

/** A key as it may be shown: its last four characters. A command is not secret and is shown in full. */
export function maskKey(key: string | null): string | null {
  if (key === null || key.startsWith('!')) return key;
  return key.length < 12 ? '…' : `…${key.slice(-4)}`;
}
