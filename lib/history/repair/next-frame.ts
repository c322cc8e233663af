import { DATA_MAGIC, type ReadBytes } from '../file/frames/frame-headers.js';

/** The number of bytes searched at once. */
const WINDOW = 1024 * 1024;

/** The first offset from `from` on at which a frame may begin, `end` if there is none. */
export function nextFrameStart(read: ReadBytes, from: number, end: number): number {
  const magic = Buffer.alloc(4);
  magic.writeUInt32LE(DATA_MAGIC);
  for (let start = from; start < end; start += WINDOW) {
    const bytes = read(start, Math.min(WINDOW + magic.length - 1, end - start));
    const data = bytes.indexOf(magic);
    const skip = skippableStart(bytes);
    const first = Math.min(data < 0 ? end : data, skip < 0 ? end : skip);
    if (first < WINDOW) return start + first;
  }
  return end;
}

/** The offset at which a skippable frame may begin: `5? 2A 4D 18`. */
function skippableStart(bytes: Buffer): number {
  const rest = Buffer.from([0x2a, 0x4d, 0x18]);
  for (let at = bytes.indexOf(rest); at >= 0; at = bytes.indexOf(rest, at + 1)) {
    if (at > 0 && ((bytes[at - 1] ?? 0) & 0xf0) === 0x50) return at - 1;
  }
  return -1;
}
