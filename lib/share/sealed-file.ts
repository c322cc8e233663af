import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { Codec } from '../history/file/codec.js';
import { frameAt } from '../history/file/frames.js';

/** The key of a shared folder: 256 bits, of which everything else is derived. */
export type ShareKey = Buffer;

/** A new key as text, 43 characters. */
export function newKeyText(): string {
  return randomBytes(32).toString('base64url');
}

/** The key that a text stands for; null if it is none. */
export function parseKey(text: string): ShareKey | null {
  const trimmed = text.trim();
  return /^[\w-]{43}$/.test(trimmed) ? Buffer.from(trimmed, 'base64url') : null;
}

/** A random id of a folder or a machine: 64 bits in hexadecimal digits. */
export function newId(): string {
  return randomBytes(8).toString('hex');
}

const MAGIC = Buffer.from('hi-share');
const VERSION = 1;
const SALT = 16;
/** How long a header is, which no two files have in common. Bytes. */
export const HEADER = MAGIC.length + 1 + SALT;
const TAG = 16;

/** Every file has a key of its own, so that its nonce need not be one of its own. */
const NONCE = Buffer.alloc(12);

/**
 * What a file turned out to be. `newer`: of a later version of hi. `unreadable`: cut, altered, in another place than it
 * was written for, or of another key.
 */
export type Opened = { readonly kind: 'content'; readonly content: Buffer } | { readonly kind: 'newer' | 'unreadable' };

/** Encrypts a file that is valid only at `place`, the names of its folders below the shared one and of what it is. */
export function sealFile(key: ShareKey, place: string, content: Uint8Array): Buffer {
  const header = Buffer.concat([MAGIC, Buffer.from([VERSION]), randomBytes(SALT)]);
  const cipher = createCipheriv('aes-256-gcm', fileKey(key, header), NONCE);
  cipher.setAAD(Buffer.concat([header, Buffer.from(place)]));
  return Buffer.concat([header, cipher.update(content), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts a file. Never throws. */
export function openFile(key: ShareKey, place: string, bytes: Buffer): Opened {
  if (bytes.length < HEADER || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return { kind: 'unreadable' };
  const version = bytes[MAGIC.length] ?? 0;
  if (version !== VERSION) return { kind: version > VERSION ? 'newer' : 'unreadable' };
  if (bytes.length < HEADER + TAG) return { kind: 'unreadable' };
  const header = bytes.subarray(0, HEADER);
  try {
    const cipher = createDecipheriv('aes-256-gcm', fileKey(key, header), NONCE, { authTagLength: TAG });
    cipher.setAAD(Buffer.concat([header, Buffer.from(place)]));
    cipher.setAuthTag(bytes.subarray(-TAG));
    const content = cipher.update(bytes.subarray(HEADER, -TAG));
    cipher.final();
    return { kind: 'content', content };
  } catch {
    return { kind: 'unreadable' };
  }
}

function fileKey(key: ShareKey, header: Buffer): Buffer {
  return derived(key, header.subarray(-SALT), 'file', 32);
}

/** What proves the key of a folder without telling it. */
export function keyCheck(key: ShareKey, folder: string): string {
  return derived(key, Buffer.from(folder), 'check', 16).toString('base64url');
}

/** The name of an attachment in the folder, which tells nobody without the key which bytes it has. */
export function attachmentFileName(key: ShareKey, sha256: string): string {
  const named = derived(key, Buffer.alloc(0), 'attachment names', 32);
  return createHmac('sha256', named).update(sha256).digest('hex').slice(0, 32);
}

function derived(key: ShareKey, salt: Buffer, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, `hi share ${VERSION} ${purpose}`, length));
}

/** The most that a file may decompress to. Bytes. */
const MOST_CONTENT = 512 * 1024 * 1024;

/** A text compressed as one zstd frame. */
export function packed(codec: Codec, text: string): Buffer {
  return codec.compress(Buffer.from(text));
}

/** The text in such a frame; null if it is none, or too large. */
export function unpacked(codec: Codec, bytes: Buffer): string | null {
  const frame = frameAt((offset, length) => bytes.subarray(offset, offset + length), 0, bytes.length);
  if (frame === null || frame.kind !== 'data' || frame.content > MOST_CONTENT) return null;
  try {
    return codec.decompress(bytes, frame).toString();
  } catch {
    return null;
  }
}
