import { writeFileSync } from 'node:fs';
import { readRegularFile, requireRegularFile } from '../regular-file.js';

/** The last turn of that conversation whose crash was reported, 0 for none. */
export function lastReportedTurn(path: string, log: string): number {
  try {
    const [name, turn] = readRegularFile(path).toString().split(' ');
    return name === log ? Number(turn) : 0;
  } catch {
    return 0;
  }
}

/** Saves it. If that fails, the crash is reported again next time. */
export function saveLastReportedTurn(path: string, log: string, turn: number): void {
  try {
    requireRegularFile(path);
    writeFileSync(path, `${log} ${turn}`, { mode: 0o600 });
  } catch {
    // Reporting twice is better than failing.
  }
}
