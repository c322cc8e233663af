/** The number of occurrences of each byte value. */
export function countsOf(bytes: Uint8Array): Uint32Array {
  const counts = new Uint32Array(256);
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index] ?? 0;
    counts[byte] = (counts[byte] ?? 0) + 1;
  }
  return counts;
}
