import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { HiError, isAbort } from '../errors.js';
import { ownEnvironment, shellCommand } from '../processes.js';
import { beginWait } from '../waits.js';

/**
 * The key itself. For `"!command"` it is the first line that the shell command prints, so that a password manager can
 * hold it. Throws a `HiError` of code `config` that names the command when it fails or prints nothing. `signal` ends
 * the command, which may be waiting for a password.
 */
export async function readKey(key: string | null, signal?: AbortSignal): Promise<string | null> {
  if (key === null) return null;
  if (!key.startsWith('!')) return checkKey(key.trim());
  const command = key.slice(1);
  const printed = await output(command, signal);
  const line = printed.split('\n')[0]?.trim() ?? '';
  if (line === '') {
    throw new HiError('config', `The key command printed nothing: '${command}'.`, {
      hint: 'Run it in a shell to see why. It is set by api_key in config.json.',
    });
  }
  return checkKey(line);
}

/** Header fields take visible ASCII only. Line breaks and typographic quotes are easily pasted along with a key. */
function checkKey(key: string): string {
  const wrong = /[^\x21-\x7e]/u.exec(key);
  if (wrong === null) return key;
  const code = `U+${(wrong[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  throw new HiError('config', `The key has an invalid character at position ${wrong.index + 1}: ${code}.`, {
    hint: 'Copy the key again, without quotes or line breaks.',
  });
}

async function output(command: string, signal?: AbortSignal): Promise<string> {
  const endWait = beginWait(`the key command '${command}'`, { mayAsk: true });
  try {
    const { file, args, options } = shellCommand(command);
    return (await promisify(execFile)(file, args, { ...options, env: ownEnvironment(), timeout: 60_000, signal }))
      .stdout;
  } catch (cause) {
    if (isAbort(cause)) throw cause;
    throw new HiError('config', `The key command failed: '${command}'.`, {
      hint: 'Run it in a shell to see why. It is set by api_key in config.json.',
      cause,
    });
  } finally {
    endWait();
  }
}

/** The last four characters of a key, to be shown. A command is not secret and is returned in full. */
export function maskKey(key: string | null): string | null {
  if (key === null || key.startsWith('!')) return key;
  return key.length < 12 ? '…' : `…${key.slice(-4)}`;
}
