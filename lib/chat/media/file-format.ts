import { imageSize } from './image-size.js';

/** The format of a file according to its first bytes. */
export interface FileFormat {
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
