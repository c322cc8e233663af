import { readFileSync } from 'node:fs';
import { isInside } from '../paths/resolve-path.js';

/** Accounts with lower user ids belong to the system, except for the administrator's. */
const FIRST_USER = 1000;

/** The home folders of other users of this machine, if the system has a list of them. Never throws. */
export function otherHomes(home: string): readonly string[] {
  return accounts()
    .map((line) => line.split(':'))
    .filter(([, , id]) => id === '0' || Number(id) >= FIRST_USER)
    .map(([, , , , , folder = '']) => folder)
    .filter((path) => path.startsWith('/') && path !== '/' && !isInside(path, home) && !isInside(home, path));
}

function accounts(): readonly string[] {
  try {
    return readFileSync('/etc/passwd', 'utf8').split('\n');
  } catch {
    return [];
  }
}
