/** How the bytes of a file become text. `binary` says what it is instead; `mark` is the length of a byte order mark. */
export type Encoding =
  | { readonly kind: 'text'; readonly name: string; readonly mark: number }
  | { readonly kind: 'binary'; readonly what: string };

/** The beginnings of files that people attach rather than read. */
const MAGIC: readonly (readonly [string, string])[] = [
  ['89504e470d0a1a0a', 'PNG image'],
  ['ffd8ff', 'JPEG image'],
  ['474946383761', 'GIF image'],
  ['474946383961', 'GIF image'],
  ['25504446', 'PDF document'],
  ['7f454c46', 'ELF program'],
  ['504b0304', 'ZIP archive'],
  ['1f8b08', 'gzip archive'],
  ['28b52ffd', 'zstd archive'],
  ['fd377a585a00', 'xz archive'],
  ['53514c69746520666f726d6174203300', 'SQLite database'],
];

/**
 * Tells the encoding of a file from its first bytes: a byte order mark, then valid UTF-8, then a guess from letter
 * frequencies. `whole` is false when the sample may end inside a character.
 */
export async function detectEncoding(sample: Uint8Array, whole: boolean): Promise<Encoding> {
  const bytes = Buffer.from(sample.buffer, sample.byteOffset, sample.byteLength);
  const start = bytes.toString('hex', 0, 16);
  if (start.startsWith('efbbbf')) return { kind: 'text', name: 'utf-8', mark: 3 };
  if (start.startsWith('fffe')) return { kind: 'text', name: 'utf-16le', mark: 2 };
  if (start.startsWith('feff')) return { kind: 'text', name: 'utf-16be', mark: 2 };
  const what = knownBeginning(start);
  if (what !== null) return { kind: 'binary', what };
  if (bytes.includes(0)) return { kind: 'binary', what: 'binary file' };
  if (isUtf8(bytes, whole)) return { kind: 'text', name: 'utf-8', mark: 0 };
  return guess(bytes);
}

function knownBeginning(start: string): string | null {
  if (start.startsWith('52494646') && start.slice(16, 24) === '57454250') return 'WebP image';
  return MAGIC.find(([magic]) => start.startsWith(magic))?.[1] ?? null;
}

function isUtf8(bytes: Uint8Array, whole: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !whole });
    return true;
  } catch {
    return false;
  }
}

async function guess(bytes: Uint8Array): Promise<Encoding> {
  const control = bytes.filter((byte) => byte < 9 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32)).length;
  if (control > bytes.length / 50) return { kind: 'binary', what: 'binary file' };
  const { detect } = await import('./chardet.js');
  return { kind: 'text', name: knownName(detect(bytes) ?? 'windows-1252'), mark: 0 };
}

/** The name decoders have for an encoding: what is called ASCII is read as Windows-1252, its usual superset. */
function knownName(name: string): string {
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return 'windows-1252';
  }
}
