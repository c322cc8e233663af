import { addAbortSignal } from 'node:stream';
import { fileBlock, textBlock } from '../../chat/marked-text.js';
import { sizeText } from '../../chat/text.js';
import { HiError } from '../../errors.js';
import { withoutPassword } from '../../http/address.js';
import { download } from '../../http/download.js';
import { visibleLine } from '../../screen/text/neutralise.js';
import type { Attachment, UserInput } from '../../session/common/deps.js';
import { type FileInput, inputFrom, LARGEST, readFileBytes, readFileInput } from '../../session/input.js';
import { idleTimeout } from './settings.js';
import type { World } from './world.js';

/** The input given on the command line. */
interface GivenInput {
  readonly words: readonly string[];
  readonly files: readonly string[];
  /** A file that lists more files, - for stdin; null for none. */
  readonly listFile: string | null;
  /** Whether the words are the question. If not, the question comes from elsewhere. */
  readonly isQuestion: boolean;
  /** Reports what was fetched, and what was not found. */
  notify(text: string): void;
}

const WEB_ADDRESS = /^https?:\/\//i;

/**
 * Gathers what `hi ask` sends: attached files, then piped stdin inside `<stdin>…</stdin>`, then the question. Without a
 * question stdin is the question; `-` reads stdin even where nothing is piped; an image or PDF on stdin is attached.
 * Throws a `HiError` of code `usage` when there is nothing to send, and an abort error when stopped. Where the question
 * comes from elsewhere, what is read goes before it, and may be nothing.
 */
export async function gatherInput(
  world: World,
  { words, files, listFile, isQuestion, notify }: GivenInput,
  signal: AbortSignal,
): Promise<UserInput> {
  const explicit = words.includes('-') || files.includes('-');
  if (explicit && listFile === '-')
    throw new HiError('usage', 'Stdin cannot be both the list of files and the input.', {
      hint: "Leave out the '-', or name a file after --files0-from.",
    });
  const listed = listFile === null ? [] : await listedFiles(world, listFile, signal);
  if (listFile !== null && listed.length === 0) notify(`'${listFile}' lists no files, so none are attached.`);
  const isPiped = explicit || (world.stdinIs === 'piped' && listFile !== '-');
  const piped = isPiped ? inputFrom(await readAll(world, signal), 'stdin') : { text: '' };
  const inputs = [];
  const options = { cwd: world.cwd, pipes: true, signal };
  for (const path of files) {
    if (WEB_ADDRESS.test(path)) inputs.push(await webInput(world, path, notify, signal));
    else if (path !== '-') inputs.push(await readFileInput(path, options));
  }
  // A list contains only file names, and any bytes but NUL.
  for (const bytes of listed) inputs.push(await readFileInput(shownName(bytes), { ...options, bytes }));
  const question = words
    .filter((word) => word !== '-')
    .join(' ')
    .trim();
  const texts = inputs.flatMap((input) => ('text' in input ? [input.text] : []));
  const read = 'text' in piped && piped.text.trim() !== '' ? piped.text : '';
  const text = question === '' && isQuestion ? read.trimEnd() : question;
  if (read !== '' && (question !== '' || !isQuestion)) texts.push(textBlock('stdin', {}, read));
  const attachments: readonly Attachment[] = [...inputs, piped].flatMap((input) =>
    'attachment' in input ? [input.attachment] : [],
  );
  if (isQuestion && text === '' && texts.length === 0 && attachments.length === 0) {
    throw new HiError('usage', 'No question given.', { hint: 'Run: hi ask "…", or pipe the question in.' });
  }
  return { text, texts, attachments };
}

/**
 * The names between NUL bytes, as `find -print0` writes them. Throws a `HiError` of code `usage` for a list that is not
 * one.
 */
async function listedFiles(world: World, path: string, signal: AbortSignal): Promise<readonly Buffer[]> {
  const bytes =
    path === '-' ? await readAll(world, signal) : await readFileBytes(path, { cwd: world.cwd, pipes: true, signal });
  const names: Buffer[] = [];
  let from = 0;
  for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, from)) {
    names.push(bytes.subarray(from, end));
    from = end + 1;
  }
  const last = bytes.subarray(from);
  const all = last.length === 0 ? names : [...names, last];
  // Without a NUL byte, newlines separate lines; between NUL bytes they belong to a name.
  const isOfLines = names.length === 0 && last.includes('\n');
  if (!isOfLines && all.every(({ length }) => length > 0)) return all;
  throw new HiError('usage', `'${path}' does not list files between NUL bytes.`, {
    hint: 'Create it with find -print0, git ls-files -z or rg -l0.',
  });
}

/** A listed name as text. Here - is a file of that name, not stdin. */
function shownName(bytes: Buffer): string {
  const name = bytes.toString('utf8');
  return name === '-' ? './-' : name;
}

async function readAll(world: World, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of addAbortSignal(signal, world.stdin)) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}

/**
 * The content of a web address, as a file. Throws a `HiError` of code `network` if it cannot be fetched, of code
 * `usage` if it cannot be sent.
 */
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
  if (bytes.length === 0)
    throw new HiError('usage', `There is nothing at '${withoutPassword(address)}': the answer is empty.`, {
      hint: 'Nothing was sent.',
    });
  const charset = /charset="?([\w-]+)/i.exec(type)?.[1] ?? ownCharset(bytes) ?? 'utf-8';
  const input = inputFrom(/^utf-?8$/i.test(charset) ? bytes : inUtf8(bytes, charset, type), url.pathname);
  const name = withoutPassword(address);
  const from = url.href === new URL(address).href ? '' : `, from ${withoutPassword(url.href)}`;
  notify(visibleLine(`Fetched ${name}: ${type || 'no type'}, ${sizeText(bytes.length)}${from}`));
  return 'text' in input ? { text: fileBlock(name, input.text) } : input;
}

/** Where a page says in which encoding it is written: in its first kilobyte, if at all. */
const SAID_WITHIN = 1024;

/** The encoding that a page of HTML or XML names itself, or that its first bytes mark; null for none. */
function ownCharset(bytes: Buffer): string | null {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf-16be';
  const start = bytes.subarray(0, SAID_WITHIN).toString('latin1');
  const tag = /<meta\s[^<>]{0,300}/gi;
  const named = [...start.matchAll(tag)].map(([text]) => /\bcharset\s{0,9}=\s{0,9}["']?([\w-]+)/i.exec(text)?.[1]);
  return (
    named.find((name) => name !== undefined) ?? /^<\?xml[^<>]{0,200}?\bencoding=["']([\w-]+)/.exec(start)?.[1] ?? null
  );
}

/** Converts text from its encoding to UTF-8. */
function inUtf8(bytes: Buffer, charset: string, type: string): Buffer {
  if (!/^text\/|json|xml|javascript/i.test(type)) return bytes;
  try {
    return Buffer.from(new TextDecoder(charset).decode(bytes));
  } catch {
    return bytes;
  }
}
