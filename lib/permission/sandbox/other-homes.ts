import { readFileSync } from 'node:fs';
import { isInside } from '../paths/resolve-path.js';

/** Accounts with lower user ids belong to the system, except for the administrator's. */
const FIRST_USER = 1000;

/** The home folders of other users of this machine, if the system has a list of them. Never throws. */
export function otherHomes(home: string): readonly string[] {
  try {
    return homesIn(readFileSync('/etc/passwd', 'utf8'), home);
  } catch {
    return [];
  }
}

/** The home folders in a list of accounts, except for those that lie in this one or contain it. */
export function homesIn(accounts: string, home: string): readonly string[] {
  return accounts
    .split('\n')
    .map((line) => line.split(':'))
    .filter(([, , id]) => id === '0' || Number(id) >= FIRST_USER)
    .flatMap(([, , , , , folder]) => folder ?? [])
    .filter((path) => path.startsWith('/') && !isInside(path, home) && !isInside(home, path));
}
