import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';

/** While it is set, called with everything on disk as a kill at that moment would leave it. */
let atEachChange: ((isTorn: boolean) => void) | null = null;

/** Looks at the disk before each change of a file and, of one that writes bytes, in its middle. */
function observed<Args extends readonly unknown[], Result>(
  change: (...args: Args) => Result,
  half: (...args: Args) => void = () => {},
): (...args: Args) => Result {
  return (...args) => {
    const look = atEachChange;
    if (look === null) return change(...args);
    // What it does itself is no change.
    atEachChange = null;
    look(false);
    half(...args);
    if (half.length > 0) look(true);
    atEachChange = look;
    return change(...args);
  };
}

const { writeFileSync, writeSync } = fs;
// Bytes that are then written again in their place.
const halfAt = (file: number, bytes: NodeJS.ArrayBufferView, offset: number, length: number, at: number): void => {
  if (typeof at === 'number') writeSync(file, bytes, offset, Math.floor(length / 2), at);
};
const halfFile = (file: fs.PathOrFileDescriptor, content: string | NodeJS.ArrayBufferView): void => {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  if (typeof file !== 'number')
    writeFileSync(file, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 1));
};
const observing = {
  ...fs,
  writeSync: observed(writeSync as (...args: Parameters<typeof halfAt>) => number, halfAt),
  writeFileSync: observed(writeFileSync as (...args: Parameters<typeof halfFile>) => void, halfFile),
  openSync: (path: fs.PathLike, flags: fs.OpenMode = 'r', mode?: fs.Mode) => {
    const open = flags === 'r' ? fs.openSync : observed(fs.openSync);
    return open(path, flags, mode);
  },
  ftruncateSync: observed(fs.ftruncateSync),
  renameSync: observed(fs.renameSync),
  rmSync: observed(fs.rmSync),
  unlinkSync: observed(fs.unlinkSync),
  linkSync: observed(fs.linkSync),
  copyFileSync: observed(fs.copyFileSync),
  mkdirSync: observed(fs.mkdirSync),
};

/** To be called before the code that is killed is imported. */
export function observeChanges(): void {
  jest.unstable_mockModule('node:fs', () => ({ ...observing, default: observing }));
}

/**
 * Runs `work`, and leaves the folders as a kill at one of its changes of files would have left them; `chance` chooses
 * which, each with the same chance. A kill says nothing about what it interrupts: that may be done or not. Resolves to
 * whether it tore a write.
 */
export async function killed(
  folders: readonly string[],
  chance: number,
  work: () => Promise<unknown>,
): Promise<boolean> {
  const image = fs.mkdtempSync(join(tmpdir(), 'hi-killed-'));
  const copies = folders.map((folder, index) => [folder, join(image, String(index))] as const);
  let [seen, state, torn] = [0, chance, false];
  atEachChange = (isTorn) => {
    seen += 1;
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    if ((state / 2 ** 32) * seen >= 1) return;
    torn = isTorn;
    for (const [folder, copy] of copies) copyOver(folder, copy);
  };
  try {
    await work();
  } finally {
    atEachChange = null;
  }
  if (seen > 0) for (const [folder, copy] of copies) copyOver(copy, folder);
  fs.rmSync(image, { recursive: true });
  for (const folder of folders) nameDead(folder);
  return torn;
}

/** No process has such a number. */
const DEAD = 2 ** 22 + 1;

/** Claims and marks that this process has left are those of a dead one. */
function nameDead(folder: string): void {
  for (const name of fs.existsSync(folder) ? fs.readdirSync(folder) : []) {
    const dead = name.replace(`.${process.pid}.`, `.${DEAD}.`);
    if (dead !== name) fs.renameSync(join(folder, name), join(folder, dead));
  }
}

function copyOver(from: string, to: string): void {
  fs.rmSync(to, { recursive: true, force: true });
  if (fs.existsSync(from)) fs.cpSync(from, to, { recursive: true });
}
