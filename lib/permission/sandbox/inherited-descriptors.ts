import { closeSync, readdirSync, readFileSync } from 'node:fs';

/** The flag of a descriptor that a new program does not get, in octal. */
const CLOSES_ON_EXEC = 0o2000000;

/**
 * Closes the descriptors that hi was started with, except for its own streams: a new program would get them too, and an
 * open folder leads out of any sandbox. Node opens all of its own so that a new program does not get them. On Linux
 * only.
 */
export function closeInheritedDescriptors(): void {
  if (process.platform !== 'linux') return;
  const channel = Number(process.env.NODE_CHANNEL_FD ?? -1);
  for (const name of readdirSync('/proc/self/fd')) {
    const descriptor = Number(name);
    if (descriptor <= 2 || descriptor === channel || !isInherited(descriptor)) continue;
    try {
      closeSync(descriptor);
    } catch {
      // It was that of the listing.
    }
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s+(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSES_ON_EXEC) === 0;
  } catch {
    return false;
  }
}
