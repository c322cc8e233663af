import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemCode, systemReason } from '../../errors.js';
import { makeFolder } from '../../folder.js';
import type { SaveImage } from '../../session/images/images.js';

/** Where images are saved. */
export interface ImageFolder {
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
