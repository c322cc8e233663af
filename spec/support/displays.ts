import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** A display without a screen. */
export interface Display {
  /** What programs need to reach it. */
  readonly env: Readonly<Record<string, string>>;
  /** What is on its clipboard. */
  clipboard(): string;
  /** Puts what is in a file onto it, as that kind of content. */
  offer(file: string, mime: string): void;
  close(): void;
}

const NOBODY = 65_534;

/** An X server. Needs Xvfb and xclip. */
export async function openX(): Promise<Display> {
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '640x480x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const number = await new Promise<string>((resolve, reject) => {
    server.on('error', reject);
    server.stdio[3]?.on('data', (bytes: Buffer) => resolve(bytes.toString().trim()));
  });
  const env = { DISPLAY: `:${number}` };
  const run = (args: readonly string[]): string =>
    execFileSync('xclip', ['-selection', 'clipboard', ...args], {
      env: { ...process.env, ...env },
      stdio: ['ignore', args.includes('-o') ? 'pipe' : 'ignore', 'ignore'],
      encoding: 'utf8',
    });
  return {
    env,
    clipboard: () => run(['-o']),
    offer: (file, mime) => void run(['-t', mime, '-i', file]),
    close: () => void server.kill(),
  };
}

/** A Wayland compositor. Needs sway, which refuses to run as root, and wl-clipboard. */
export async function openWayland(): Promise<Display> {
  const folder = mkdtempSync(join(tmpdir(), 'hi-wayland-'));
  writeFileSync(join(folder, 'config'), 'xwayland disable\n');
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const compositor = spawn('sway', ['-c', join(folder, 'config')], {
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
    stdio: 'ignore',
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      XDG_RUNTIME_DIR: folder,
      WLR_BACKENDS: 'headless',
      WLR_LIBINPUT_NO_DEVICES: '1',
      WLR_RENDERER: 'pixman',
    },
  });
  const name = await socketIn(folder, compositor);
  const env = { XDG_RUNTIME_DIR: folder, WAYLAND_DISPLAY: name };
  const options = { env: { ...process.env, ...env }, encoding: 'utf8' } as const;
  return {
    env,
    clipboard: () => execFileSync('wl-paste', ['-n'], options),
    offer: (file, mime) =>
      void execFileSync('/bin/sh', ['-c', 'wl-copy -t "$1" < "$0"', file, mime], { ...options, stdio: 'ignore' }),
    close: () => {
      compositor.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function socketIn(folder: string, compositor: ChildProcess): Promise<string> {
  let failure: Error | null = null;
  compositor.on('error', (error) => {
    failure = error;
  });
  for (let tries = 0; tries < 200; tries += 1) {
    if (failure !== null) throw failure;
    const found = readdirSync(folder).find((file) => /^wayland-\d+$/.test(file));
    if (found !== undefined && existsSync(join(folder, `${found}.lock`))) return found;
    await delay(50);
  }
  throw new Error('sway did not start.');
}
