import { readVendorError, type VendorError, WEB_PAGE } from './vendor-error.js';

/** What a server says that has nothing at the path of a request; null if the failure is another one. */
export function missingPath(thrown: unknown): string | null {
  const error = readVendorError(thrown);
  if (error === null || !isNothingThere(error)) return null;
  return `${error.message || `HTTP ${error.status}`}.`.replace(/\.\.$/, '.');
}

/** Whether there is nothing at the path, or nothing that takes a request. */
export const isNothingThere = ({ status, kinds, message }: VendorError): boolean =>
  status === 405 || (status === 404 && (kinds.includes(WEB_PAGE) || isMissingPath(message)));

/** The words of messages that say only "not found". */
const NOT_FOUND: ReadonlySet<string> = new Set(['http', 'error', 'not', 'found', 'page', 'file', 'resource', 'the']);

/** True if the message says that the path does not exist, or only "not found". */
const isMissingPath = (message: string): boolean =>
  /\b(?:path|route|url|endpoint|cannot (?:get|post))\b/i.test(message) ||
  (message.toLowerCase().match(/[a-z]+/g) ?? []).every((word) => NOT_FOUND.has(word));
