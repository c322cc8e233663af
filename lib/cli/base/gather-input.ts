import { addAbortSignal } from 'node:stream';
import { HiError } from '../../errors.js';
import type { Attachment, UserInput } from '../../session/deps.js';
import { inputFrom, readFileInput } from '../../session/files.js';
import type { World } from './world.js';

/**
 * Gathers what `hi ask` sends: attached files, then piped stdin inside `<stdin>…</stdin>`, then the question. Without a question stdin is the question;
 * `-` reads stdin even where nothing is piped; an image or PDF on stdin is attached. Throws a `HiError` of code `usage` when there is nothing to send,
 * and an abort error when stopped. Without `isQuestion` the question comes from elsewhere: what is read goes before it, and may be nothing.
 */
export async function gatherInput(
  world: World,
  words: readonly string[],
  files: readonly string[],
  signal: AbortSignal,
  isQuestion = true,
): Promise<UserInput> {
  const explicit = words.includes('-') || files.includes('-');
  const piped = explicit || world.stdinIs === 'piped' ? inputFrom(await readAll(world, signal), 'stdin') : { text: '' };
  const inputs = [];
  for (const path of files)
    if (path !== '-') inputs.push(await readFileInput(path, { cwd: world.cwd, pipes: true, signal }));
  const question = words
    .filter((word) => word !== '-')
    .join(' ')
    .trim();
  const texts = inputs.flatMap((input) => ('text' in input ? [input.text] : []));
  const read = 'text' in piped && piped.text.trim() !== '' ? piped.text : '';
  const text = question === '' && isQuestion ? read.trimEnd() : question;
  if (read !== '' && (question !== '' || !isQuestion))
    texts.push(`<stdin>\n${read}${read.endsWith('\n') ? '' : '\n'}</stdin>`);
  const attachments: readonly Attachment[] = [...inputs, piped].flatMap((input) =>
    'attachment' in input ? [input.attachment] : [],
  );
  if (isQuestion && text === '' && texts.length === 0 && attachments.length === 0) {
    throw new HiError('usage', 'No question given.', { hint: 'Run: hi ask "…", or pipe the question in.' });
  }
  return { text, texts, attachments };
}

async function readAll(world: World, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of addAbortSignal(signal, world.stdin)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
