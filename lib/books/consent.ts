import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject } from '../chat/json.js';
import { writeAside } from '../disk.js';
import { systemCode } from '../errors.js';

/** Where passages of a book may be sent: nowhere, to the servers of these names, or to any. */
export type Consent = 'never' | 'any' | readonly string[];

/**
 * Asks the user whether passages of a book may be sent to a server: never, to this one only, or to any. Rejects if the
 * question is cancelled.
 */
export type AskAboutBook = (book: string, server: string) => Promise<'never' | 'this' | 'any'>;

/** What of the books a search may use. */
export interface Permit {
  /** Whether nothing of a book may be used, whatever is found in it: it need not be searched. */
  isClosed(book: string): boolean;
  /** Whether passages of a book may be used. Called only where there are some; may ask the user. */
  may(book: string): Promise<boolean>;
}

/** The answers that the user gave, in the folder of the books. */
const FILE = 'consent.json';

/** What the user decided about a book; null if that is still open, or the file cannot be read. */
export function consentOf(folder: string, book: string): Consent | null {
  const stored = storedIn(folder)[book];
  if (stored === 'never' || stored === 'any') return stored;
  return Array.isArray(stored) ? stored.filter((name) => typeof name === 'string') : null;
}

/**
 * Whether passages of a book may be sent to a server; null if nobody was asked yet. One that was agreed to for another
 * server may not.
 */
export function mayLeave(folder: string, book: string, server: string): boolean | null {
  const consent = consentOf(folder, book);
  if (consent === null) return null;
  return consent === 'any' || (consent !== 'never' && consent.includes(server));
}

/** Stores an answer, or with null that the user is to be asked again. Throws system errors. */
export function storeConsent(folder: string, book: string, consent: Consent | null): void {
  const { [book]: _, ...others } = storedIn(folder);
  const all = consent === null ? others : { ...others, [book]: consent };
  writeAside(join(folder, FILE), `${JSON.stringify(all)}\n`, { mode: 0o600, synced: true });
}

/**
 * Lets the passages of a book be used as the user decided, once for each book; without anybody to ask, none of a book
 * about which nothing was decided.
 */
export function permitBy(folder: string, server: () => string, ask: AskAboutBook | null): Permit {
  return {
    isClosed: (book) => (mayLeave(folder, book, server()) ?? ask !== null) === false,
    async may(book) {
      const known = mayLeave(folder, book, server());
      if (known !== null || ask === null) return known === true;
      const answer = await ask(book, server());
      storeConsent(folder, book, answer === 'this' ? [server()] : answer);
      return answer !== 'never';
    },
  };
}

function storedIn(folder: string): Readonly<Record<string, unknown>> {
  try {
    const stored: unknown = JSON.parse(readFileSync(join(folder, FILE), 'utf8'));
    return isJsonObject(stored) ? stored : {};
  } catch (thrown) {
    if (systemCode(thrown) === null && !(thrown instanceof SyntaxError)) throw thrown;
    return {};
  }
}
