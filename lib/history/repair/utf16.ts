/** Converts text in UTF-16, of either byte order, to UTF-8. */
export function inUtf8(bytes: Buffer): Buffer {
  const isBig = bytes[0] === 0xfe || bytes[0] === 0x00;
  const even = Buffer.from(bytes.subarray(0, bytes.length & ~1));
  return Buffer.from((isBig ? even.swap16() : even).toString('utf16le'));
}
