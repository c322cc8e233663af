/** The signals that ask the program to exit. */
export const STOP_SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** The exit status after a signal: 128 plus its number, as in shells. */
export function statusAfter(signal: NodeJS.Signals): number {
  // Read on demand: nearly every start loads this file, and few need the numbers.
  return 128 + process.getBuiltinModule('node:os').constants.signals[signal];
}
