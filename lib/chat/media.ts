import { type ImagePart, isPart, type Part } from './message.js';
import type { ImageLimits } from './model.js';
import { asTokens, type ChatRequest, estimateTokens, IMAGE_TOKENS, type Tokens } from './request.js';

/** The format of a file according to its first bytes. */
interface FileFormat {
  readonly name: string;
  /** The media type, if models accept files of this format; else null. */
  readonly mime: string | null;
  /** Whether its header is cut off or invalid, so that no model can read it. */
  readonly isDamaged: boolean;
}

/** The first bytes of a format's files, in hexadecimal, from the formats' own specifications. */
const SIGNATURES: readonly (readonly [signature: RegExp, name: string, mime: string | null])[] = [
  [/^89504e470d0a1a0a/, 'PNG image', 'image/png'],
  [/^ffd8ff/, 'JPEG image', 'image/jpeg'],
  // `GIF87a`, `GIF89a`
  [/^47494638(?:37|39)61/, 'GIF image', 'image/gif'],
  // `RIFF`, the size of the file, `WEBP`
  [/^52494646.{8}57454250/, 'WebP image', 'image/webp'],
  // `RIFF`, the size of the file, `WAVE`
  [/^52494646.{8}57415645/, 'WAV audio', 'audio/wav'],
  // `ID3` with its version, or the first frame
  [/^4944330[2-4]00|^fff[23ab]/, 'MP3 audio', 'audio/mp3'],
  // `FORM`, the size of the file, `AIFF` or `AIFC`
  [/^464f524d.{8}414946[46]/, 'AIFF audio', 'audio/aiff'],
  [/^fff[189]/, 'AAC audio', 'audio/aac'],
  // `OggS`, version 0
  [/^4f67675300/, 'Ogg audio', 'audio/ogg'],
  // `fLaC`, the block with the properties of the stream
  [/^664c614300000022/, 'FLAC audio', 'audio/flac'],
  // A box `ftyp` with a brand of HEIF
  [/^0000.{4}66747970(?:686569(?:63|78|6d|73)|6d696631|6d736631)/, 'HEIC image', 'image/heic'],
  // `%PDF-`
  [/^255044462d/, 'PDF document', 'application/pdf'],
  [/^7f454c46/, 'ELF program', null],
  [/^504b0304/, 'ZIP archive', null],
  [/^1f8b08/, 'gzip archive', null],
  [/^28b52ffd/, 'zstd archive', null],
  [/^fd377a585a00/, 'xz archive', null],
  // `SQLite format 3` and a null byte
  [/^53514c69746520666f726d6174203300/, 'SQLite database', null],
];

const LONGEST_SIGNATURE = 16;

/** The format of a file according to its first bytes; null if they have no known signature, like most text. */
export function fileFormat(bytes: Uint8Array): FileFormat | null {
  const start = Buffer.from(bytes.subarray(0, LONGEST_SIGNATURE)).toString('hex');
  const found = SIGNATURES.find(([signature]) => signature.test(start));
  if (found === undefined) return null;
  const [, name, mime] = found;
  return { name, mime, isDamaged: !hasWholeHeader(bytes, mime) };
}

/** Formats that are rarely sent, or that no model accepts, are recognised by their signature alone. */
function hasWholeHeader(bytes: Uint8Array, mime: string | null): boolean {
  if (mime === 'application/pdf') return /^%PDF-\d\.\d/.test(Buffer.from(bytes.subarray(0, 8)).toString('latin1'));
  return mime === null || !SIZED.test(mime) || imageSize(bytes) !== null;
}

const SIZED = /^image\/(?:png|jpeg|gif|webp)$/;

/** The size of an image in pixels. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/**
 * The size in the header of a PNG, JPEG, GIF or WebP. Null for anything else, and if the header is cut off, damaged or
 * has no size.
 */
export function imageSize(bytes: Uint8Array): ImageSize | null {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = READERS.find(([signature]) => signature.test(view.toString('latin1', 0, SIGNATURE)))?.[1](view) ?? null;
  return size !== null && size.width > 0 && size.height > 0 ? size : null;
}

const SIGNATURE = 12;

const READERS: readonly (readonly [signature: RegExp, read: (bytes: Buffer) => ImageSize | null])[] = [
  [/^\x89PNG\r\n\x1a\n/, ofPng],
  [/^\xff\xd8\xff/, ofJpeg],
  [/^GIF8[79]a/, ofGif],
  [/^RIFF[\s\S]{4}WEBP/, ofWebp],
];

/** https://www.w3.org/TR/png-3: the first chunk is `IHDR` of 13 bytes, and no side has more than 2^31 - 1. */
function ofPng(bytes: Buffer): ImageSize | null {
  if (bytes.length < 33 || bytes.readUInt32BE(8) !== 13 || bytes.toString('latin1', 12, 16) !== 'IHDR') return null;
  const [width, height] = [bytes.readInt32BE(16), bytes.readInt32BE(20)];
  return { width, height };
}

/**
 * ITU-T T.81: segments with their lengths. A segment of a `SOF` kind has the size; the image data begins with `SOS`.
 */
function ofJpeg(bytes: Buffer): ImageSize | null {
  for (let at = 2; at + 9 <= bytes.length && bytes[at] === 0xff; ) {
    const marker = bytes[at + 1] ?? 0;
    // Any number of FF bytes may precede a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === START_OF_SCAN || marker === END_OF_IMAGE) return null;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.includes(marker);
    if (isFrame) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
/** `DHT`, `JPG` and `DAC` are in the range of the frame markers. */
const NO_FRAMES = [0xc4, 0xc8, 0xcc];

function ofGif(bytes: Buffer): ImageSize | null {
  return bytes.length < 13 ? null : { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

/** RFC 9649: lossy, lossless, or with more than the picture. */
function ofWebp(bytes: Buffer): ImageSize | null {
  if (bytes.length < 30) return null;
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      if (bytes.toString('hex', 23, 26) !== '9d012a') return null;
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const sides = bytes.readUInt32LE(21);
      return bytes[20] === 0x2f ? { width: (sides & 0x3fff) + 1, height: ((sides >>> 14) & 0x3fff) + 1 } : null;
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return null;
  }
}

/**
 * The size of a part in a request: its characters, and its images, each of which counts as a fixed number of tokens.
 */
interface PartSize {
  readonly characters: number;
  readonly images: number;
}

/** The size of a part for the estimate. Thinking and vendor blocks count because they are sent back. */
export function sizeOfPart(part: Part): PartSize {
  switch (part.type) {
    case 'text':
    case 'thinking':
      return { characters: part.text.length, images: 0 };
    case 'image':
    case 'document':
      return { characters: 0, images: 1 };
    case 'tool_call':
      return { characters: part.name.length + JSON.stringify(part.args).length, images: 0 };
    case 'tool_result':
      return { characters: (part.error ?? JSON.stringify(part.result)).length, images: 0 };
    case 'vendor':
      return { characters: JSON.stringify(part.opaque).length, images: 0 };
  }
}

/** The estimate of all parts together: characters / 4, plus the fixed cost of each image. */
export function estimateParts(parts: Iterable<Part>): Tokens {
  let characters = 0;
  let images = 0;
  for (const part of parts) {
    const size = sizeOfPart(part);
    characters += size.characters;
    images += size.images;
  }
  return asTokens(estimateTokens(characters) + images * IMAGE_TOKENS);
}

/** A smaller picture, sent in place of one that is too large. */
export interface SmallImage {
  readonly mime: string;
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array;
}

/** The length of this many bytes in base64. */
export const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3);

/** If the request as a whole is too large, images below this size stay unchanged. */
const SMALL = 256 * 1024;

/**
 * The user's images that the vendor would refuse, each once: too large by itself, among too many, or with all files
 * together too large.
 */
export function tooLargeImages({ messages, attachments }: ChatRequest, limits: ImageLimits): readonly ImagePart[] {
  const parts = messages.flatMap(({ role, content }) => (role === 'user' ? content : []));
  const images = parts.filter(isPart('image'));
  const sizes = [...images, ...parts.filter(isPart('document'))].map(
    ({ sha256 }) => attachments.get(sha256)?.length ?? 0,
  );
  const isCrowded = sizes.reduce((sum, size) => sum + base64Length(size), 0) > limits.request;
  const { many } = limits;
  const longest = many !== undefined && images.length > many.count ? many.side : (limits.side ?? Infinity);
  const found = images.filter(({ sha256 }) => {
    const bytes = attachments.get(sha256);
    if (bytes === undefined) return false;
    if (base64Length(bytes.length) > limits.bytes || (isCrowded && bytes.length > SMALL)) return true;
    const size = longest === Infinity ? null : imageSize(bytes);
    return size !== null && Math.max(size.width, size.height) > longest;
  });
  return [...new Map(found.map((part) => [part.sha256, part])).values()];
}
