/** Where a frame says what it has, after the four bytes of its magic number, and the bit for a checksum (RFC 8878, 3.1.1.1). */
const DESCRIPTOR = 4;
const HAS_CHECKSUM = 0b100;

/** A frame that was made without a checksum, with the one of its content, of which `hash` is the XXH64. */
export function withChecksum(frame: Uint8Array, hash: bigint): Buffer {
  const whole = Buffer.allocUnsafe(frame.length + 4);
  whole.set(frame);
  whole.writeUInt8(whole.readUInt8(DESCRIPTOR) | HAS_CHECKSUM, DESCRIPTOR);
  // The lower half, little end first (RFC 8878, 3.1.1).
  whole.writeUInt32LE(Number(hash & 0xffffffffn), frame.length);
  return whole;
}
