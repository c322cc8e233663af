/** The offset of the frame header descriptor, after the magic number, and its checksum bit (RFC 8878, 3.1.1.1). */
const DESCRIPTOR = 4;
const HAS_CHECKSUM = 0b100;

/** Adds a checksum to a frame without one. `hash` is the XXH64 of its content. */
export function withChecksum(frame: Uint8Array, hash: bigint): Buffer {
  const whole = Buffer.allocUnsafe(frame.length + 4);
  whole.set(frame);
  whole.writeUInt8(whole.readUInt8(DESCRIPTOR) | HAS_CHECKSUM, DESCRIPTOR);
  // The low 32 bits, little-endian (RFC 8878, 3.1.1).
  whole.writeUInt32LE(Number(hash & 0xffffffffn), frame.length);
  return whole;
}
