/**
 * Milliseconds by a clock that only goes forward and that nobody sets. The same as `performance.now()`, whose first use loads a part of Node that takes
 * longer than all of a start's timing is worth.
 */
export function monotonic(): number {
  return process.uptime() * 1000;
}
