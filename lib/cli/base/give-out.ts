import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { setImmediate as yieldToEvents } from 'node:timers/promises';
import { AsideFile, makeFolder } from '../../disk.js';
import { HiError, isAbort, systemCode, systemReason } from '../../errors.js';
import { ownProgram } from '../../processes.js';
import type { OutputStream } from '../../screen/output-stream.js';
import type { SaveImage } from '../../session/images/images.js';
import type { World } from './world.js';

/** The absolute path of a file typed into the chat, where no shell has expanded a `~`. */
export function expandPath(path: string, cwd: string, home: string): string {
  return resolve(
    cwd,
    path.replace(/^~(?=\/)/, () => home),
  );
}

/** How long to work without handling keys and signals. Milliseconds. */
const LONGEST_WORK = 50;

/**
 * Replaces a file atomically, or leaves it unchanged. Follows links. Throws a `HiError` of code `usage` that names the
 * file.
 */
export async function writeFileAtomically(target: string, chunks: AsyncIterable<string>): Promise<void> {
  let aside: AsideFile | null = null;
  try {
    aside = new AsideFile(target, { mode: 0o666 });
    let rested = performance.now();
    for await (const chunk of chunks) {
      writeFileSync(aside.descriptor, chunk);
      if (performance.now() - rested < LONGEST_WORK) continue;
      await yieldToEvents();
      rested = performance.now();
    }
    aside.commit(false);
  } catch (cause) {
    aside?.discard();
    if (cause instanceof HiError || isAbort(cause)) throw cause;
    const isMissing = systemCode(cause) === 'ENOENT';
    const reason = isMissing ? `The folder '${dirname(target)}' does not exist` : systemReason(cause);
    const hint = isMissing ? 'Create it first (mkdir -p), or choose another path.' : 'Choose another path.';
    throw new HiError('usage', `Cannot write '${target}': ${reason}.`, { hint, cause });
  }
}

/** A program that takes a text for the clipboard on its stdin. */
interface ClipboardProgram {
  /** The variable that is set where it works. */
  readonly needs: string | null;
  readonly command: readonly [string, ...string[]];
  /** How the text is encoded for it; UTF-8 when absent. */
  readonly encoding?: BufferEncoding;
  /** Further variables for it. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * In the order they are tried. `tmux load-buffer -w` fills tmux's buffer and hands the text to the terminal, which tmux
 * keeps programs inside it from doing by themselves (`set-clipboard external`, its default). `clip.exe` reads anything
 * but UTF-16 as the old code page of Windows, and `pbcopy` does the like where the locale does not say UTF-8.
 */
const TEXT_PROGRAMS: readonly ClipboardProgram[] = [
  { needs: 'WAYLAND_DISPLAY', command: ['wl-copy'] },
  { needs: 'DISPLAY', command: ['xclip', '-selection', 'clipboard'] },
  { needs: 'DISPLAY', command: ['xsel', '--clipboard', '--input'] },
  { needs: null, command: ['pbcopy'], env: { LC_CTYPE: 'UTF-8' } },
  { needs: null, command: ['clip.exe'], encoding: 'utf16le' },
  { needs: 'TMUX', command: ['tmux', 'load-buffer', '-w', '-'] },
];

/** How long a program may take: it waits for ever when its display does not answer. Milliseconds. */
const PROGRAM_TIMEOUT = 3000;

/** Terminals take no longer sequence: xterm and tmux drop it in silence. */
const LONGEST_SEQUENCE = 100_000;

const TERMINAL_SEQUENCE = 'terminal sequence OSC 52';

/** The method that `copyText` tries first. */
export function clipboardMethod({ env }: World): string {
  const folders = (env.PATH ?? '').split(delimiter);
  const found = TEXT_PROGRAMS.find(
    ({ needs, command }) =>
      (needs === null || env[needs]) && folders.some((folder) => isProgram(join(folder, command[0]))),
  );
  return found?.command[0] ?? TERMINAL_SEQUENCE;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Puts a text on the clipboard with the first program that takes it, else with the terminal's sequence OSC 52. Resolves
 * to what happened, in words: whether a terminal obeys the sequence cannot be known. Throws a `HiError` of code `usage`
 * where there is no way.
 */
export async function copyText(text: string, world: World, terminal: OutputStream): Promise<string> {
  for (const program of TEXT_PROGRAMS) {
    if ((program.needs === null || world.env[program.needs]) && (await pipeTo(program, text, world)))
      return `Copied with ${program.command[0]}`;
  }
  if (!terminal.isTTY) {
    throw new HiError('usage', 'Cannot copy: no clipboard program works, and there is no terminal.', {
      hint: "Install wl-copy, xclip or xsel, or redirect the output of 'hi ask'.",
    });
  }
  const sequence = `\x1b]52;c;${Buffer.from(text).toString('base64')}\x07`;
  if (sequence.length > LONGEST_SEQUENCE) {
    throw new HiError('usage', `Cannot copy ${text.length} characters: terminals do not accept that many (OSC 52).`, {
      hint: 'Install wl-copy, xclip or xsel, or write the conversation to a file with /export.',
    });
  }
  terminal.write(world.env.STY ? throughScreen(sequence) : sequence);
  return 'Sent to the terminal for copying (OSC 52)';
}

/** GNU screen passes on what stands in a device control string, of at most 768 bytes each. */
function throughScreen(sequence: string): string {
  return (sequence.match(/[\s\S]{1,700}/g) ?? []).map((piece) => `\x1bP${piece}\x1b\\`).join('');
}

async function pipeTo(
  { command, encoding = 'utf8', env: more = {} }: ClipboardProgram,
  text: string,
  { env }: World,
): Promise<boolean> {
  const [program, ...args] = command;
  const child = spawn(ownProgram(program, env), args, {
    stdio: ['pipe', 'ignore', 'ignore'],
    timeout: PROGRAM_TIMEOUT,
    env: { ...env, ...more },
  });
  child.stdin.on('error', () => child.stdin.destroy());
  child.stdin.end(Buffer.from(text, encoding));
  try {
    const [status] = await once(child, 'close');
    return status === 0;
  } catch {
    return false;
  }
}

/** A program that writes the image on the clipboard to its stdout, and how the PNG is found in that. */
interface ImageProgram {
  /** The variable that is set where it works. */
  readonly needs: string | null;
  readonly command: readonly [string, ...string[]];
  decode(output: Buffer): Buffer;
}

const asItIs = (output: Buffer): Buffer => output;

/** In PowerShell, which WSL reaches. */
const POWERSHELL = `Add-Type -AssemblyName System.Windows.Forms, System.Drawing
$image = [Windows.Forms.Clipboard]::GetImage()
if ($image) { $stream = New-Object IO.MemoryStream; $image.Save($stream, [Drawing.Imaging.ImageFormat]::Png); [Convert]::ToBase64String($stream.ToArray()) }`;

/** In the order they are tried. */
const IMAGE_PROGRAMS: readonly ImageProgram[] = [
  { needs: 'WAYLAND_DISPLAY', command: ['wl-paste', '-t', 'image/png'], decode: asItIs },
  { needs: 'DISPLAY', command: ['xclip', '-selection', 'clipboard', '-t', 'image/png', '-o'], decode: asItIs },
  {
    needs: null,
    command: ['osascript', '-e', 'get the clipboard as «class PNGf»'],
    decode: (output) => Buffer.from(/«data PNGf([\dA-F]+)»/.exec(output.toString())?.[1] ?? '', 'hex'),
  },
  {
    needs: 'WSL_DISTRO_NAME',
    command: ['powershell.exe', '-NoProfile', '-STA', '-Command', POWERSHELL],
    decode: (output) => Buffer.from(output.toString(), 'base64'),
  },
];

const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
/** How long a program may take, in milliseconds, and how much it may write. */
const TIMEOUT = 5000;
const LARGEST = 100_000_000;

let folder: string | null = null;
let count = 0;

/**
 * Puts the image on the clipboard into a file that is there until the program exits, only for the user. Resolves to its
 * path, null where there is no image.
 */
export async function pastedImage({ env }: World): Promise<string | null> {
  for (const program of IMAGE_PROGRAMS) {
    if (program.needs !== null && !env[program.needs]) continue;
    const image = program.decode(await outputOf(program.command, env));
    if (image.subarray(0, PNG.length).equals(PNG)) return keep(image);
  }
  return null;
}

function keep(image: Buffer): string {
  if (folder === null) {
    const made = mkdtempSync(join(tmpdir(), 'hi-'));
    folder = made;
    process.on('exit', () => rmSync(made, { recursive: true, force: true }));
  }
  count += 1;
  const path = join(folder, `clipboard-${count}.png`);
  writeFileSync(path, image, { mode: 0o600 });
  return path;
}

/** What a program prints; nothing where there is none, or it fails. */
async function outputOf([program, ...args]: ImageProgram['command'], env: World['env']): Promise<Buffer> {
  const child = spawn(ownProgram(program, env), args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: TIMEOUT,
    env: { ...env },
  });
  const chunks: Buffer[] = [];
  let size = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > LARGEST) child.kill();
    else chunks.push(chunk);
  });
  try {
    const [status] = await once(child, 'close');
    return status === 0 ? Buffer.concat(chunks) : Buffer.alloc(0);
  } catch {
    return Buffer.alloc(0);
  }
}

/** Where images are saved. */
interface ImageFolder {
  /** As configured: `~` is the home folder, and a relative path lies in the working folder. */
  readonly folder: string;
  readonly cwd: string;
  readonly home: string;
  now(): Date;
}

/** Returns a function that saves images in that folder, each named after its time. It never replaces a file. */
export function imageSaver({ folder, cwd, home, now }: ImageFolder): SaveImage {
  return async (bytes, extension) => {
    const place = resolve(
      cwd,
      folder.replace(/^~(?=\/|$)/, () => home),
    );
    try {
      makeFolder(place, 0o755);
      const name = writeNew(place, stamp(now()), extension, bytes);
      return { name, path: join(place, name) };
    } catch (thrown) {
      if (systemCode(thrown) === null) throw thrown;
      return { reason: `'${place}': ${systemReason(thrown)}. Set images.folder to another one.` };
    }
  };
}

function writeNew(folder: string, stem: string, extension: string, bytes: Uint8Array): string {
  for (let number = 1; ; number += 1) {
    const name = `${stem}${number === 1 ? '' : `-${number}`}.${extension}`;
    try {
      writeFileSync(join(folder, name), bytes, { flag: 'wx', mode: 0o644 });
      return name;
    } catch (thrown) {
      if (systemCode(thrown) !== 'EEXIST') throw thrown;
    }
  }
}

/** `hi-2026-11-22-221530`, in local time. */
function stamp(now: Date): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join('-');
  return `hi-${day}-${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
}
