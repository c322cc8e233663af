import { writeFileSync } from 'node:fs';
import { readRegularFile, requireRegularFile } from '../regular-file.js';

/** Up to which turn of that conversation the user was told of crashes. */
export function lastReportedTurn(path: string, log: string): number {
  try {
    const [name, turn] = readRegularFile(path).toString().split(' ');
    return name === log ? Number(turn) : 0;
  } catch {
    return 0;
  }
}

/** Remembers it. Where nothing can be written the user is told again next time. */
export function saveLastReportedTurn(path: string, log: string, turn: number): void {
  try {
    requireRegularFile(path);
    writeFileSync(path, `${log} ${turn}`, { mode: 0o600 });
  } catch {
    // Telling twice is better than failing.
  }
}
