import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownProgram } from '../../own-programs.js';
import type { World } from '../base/world.js';

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
const PROGRAMS: readonly ImageProgram[] = [
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

/** Puts the image on the clipboard into a file that is there until the program exits, only for the user. Resolves to its path, null where there is no image. */
export async function pastedImage({ env }: World): Promise<string | null> {
  for (const program of PROGRAMS) {
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
