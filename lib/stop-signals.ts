import { constants } from 'node:os';
/** The signals that ask the program to exit. */
export const STOP_SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** The exit status after a signal: 128 plus its number, as in shells. */
export function statusAfter(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
