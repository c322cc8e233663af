/** The array itself, or a longer copy if it has less than this length. */
export function withRoom<Kind extends Int32Array | Uint8Array>(numbers: Kind, length: number): Kind;
export function withRoom(numbers: Int32Array | Uint8Array, length: number): Int32Array | Uint8Array {
  if (length <= numbers.length) return numbers;
  const room = Math.max(length, 2 * numbers.length);
  const larger = numbers instanceof Uint8Array ? new Uint8Array(room) : new Int32Array(room);
  larger.set(numbers);
  return larger;
}
