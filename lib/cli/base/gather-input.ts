import { addAbortSignal } from 'node:stream';
import { HiError } from '../../errors.js';
import type { Attachment, UserInput } from '../../session/deps.js';
import { inputFrom, readFileInput } from '../../session/files.js';
import type { World } from './world.js';

/**
 * What a one-shot sends: attached files, then piped stdin inside `<stdin>…</stdin>`, then the words. Without words stdin is the prompt; `-` reads stdin
 * in its place; an image or PDF on stdin is attached. Throws a `HiError` of code `usage` when that comes to nothing, and an abort error when stopped.
 */
export async function gatherInput(
  world: World,
  words: readonly string[],
  files: readonly string[],
  signal: AbortSignal,
): Promise<UserInput> {
  const explicit = words.includes('-') || files.includes('-');
  const piped = explicit || world.stdinIs === 'piped' ? inputFrom(await readAll(world, signal), 'stdin') : { text: '' };
  const inputs = [];
  for (const path of files)
    if (path !== '-') inputs.push(await readFileInput(path, { cwd: world.cwd, pipes: true, signal }));
  const said = words
    .filter((word) => word !== '-')
    .join(' ')
    .trim();
  const texts = inputs.flatMap((input) => ('text' in input ? [input.text] : []));
  const read = 'text' in piped && piped.text.trim() !== '' ? piped.text : '';
  const text = said === '' ? read.trimEnd() : said;
  if (read !== '' && said !== '') texts.push(`<stdin>\n${read}${read.endsWith('\n') ? '' : '\n'}</stdin>`);
  const attachments: readonly Attachment[] = [...inputs, piped].flatMap((input) =>
    'attachment' in input ? [input.attachment] : [],
  );
  if (text === '' && texts.length === 0 && attachments.length === 0) {
    throw new HiError('usage', 'There is nothing to ask.', { hint: 'Give a question: hi ask "…", or pipe one in.' });
  }
  return { text, texts, attachments };
}

async function readAll(world: World, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of addAbortSignal(signal, world.stdin)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
