import { constants } from 'node:os';

/** The signals that ask the program to leave. */
export const STOP_SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** The exit status after a signal: 128 and its number, as shells count. */
export function statusAfter(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
