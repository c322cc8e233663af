/**
 * Milliseconds by a clock that only goes forward. Not `performance.now()`: its first use loads a part of Node, which
 * costs a start more than its timing is worth.
 */
export function monotonic(): number {
  return process.uptime() * 1000;
}
