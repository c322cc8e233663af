import { fileBlock } from '../../chat/marked-text.js';
import { HiError } from '../../errors.js';
import { withoutPassword } from '../../http/address.js';
import { download } from '../../http/download.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import { type FileInput, inputFrom, LARGEST } from '../../session/input.js';
import { idleTimeout } from './settings.js';
import type { World } from './world.js';

/** The content of a web address, as a file. Throws a `HiError` of code `network` if it cannot be fetched, of code `usage` if it cannot be sent. */
export async function webInput(
  world: World,
  address: string,
  notify: (text: string) => void,
  signal: AbortSignal,
): Promise<FileInput> {
  if (!URL.canParse(address))
    throw new HiError('usage', `Not a web address: '${address}'.`, { hint: 'Write it as https://example.org/page.' });
  const { env } = world;
  const { bytes, url, type } = await download(address, {
    limit: LARGEST,
    idleTimeout: idleTimeout(world),
    env,
    signal,
  });
  const charset = /charset="?([\w-]+)/i.exec(type)?.[1] ?? 'utf-8';
  const input = inputFrom(/^utf-?8$/i.test(charset) ? bytes : inUtf8(bytes, charset, type), url.pathname);
  const name = withoutPassword(address);
  const from = url.href === new URL(address).href ? '' : `, from ${withoutPassword(url.href)}`;
  notify(visibleLine(`Fetched ${name}: ${type || 'no type'}, ${sizeOf(bytes.length)}${from}`));
  return 'text' in input ? { text: fileBlock(name, input.text) } : input;
}

/** Converts text from the encoding that the server names to UTF-8. */
function inUtf8(bytes: Buffer, charset: string, type: string): Buffer {
  if (!/^text\/|json|xml|javascript/i.test(type)) return bytes;
  try {
    return Buffer.from(new TextDecoder(charset).decode(bytes));
  } catch {
    return bytes;
  }
}

function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
