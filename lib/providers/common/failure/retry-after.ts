import { milliseconds } from '../../../chat/text.js';
import type { VendorError } from './vendor-error.js';

/**
 * How long the server asked to wait, in milliseconds: in a header, in Google's `RetryInfo`, or in its message; null if it did not. Zero and
 * past times count as null, because all attempts would be made at once.
 */
export function retryAfter({ headers, details, message }: VendorError): number | null {
  return (
    [fromHeaders(headers), fromDetails(details), fromSentence(message)].find((wait) => wait !== null && wait > 0) ??
    null
  );
}

function fromHeaders(headers: Headers | null): number | null {
  const exact = Number.parseFloat(headers?.get('retry-after-ms') ?? '');
  if (exact >= 0) return exact;
  const value = headers?.get('retry-after') ?? '';
  const seconds = Number(value);
  if (value !== '' && seconds >= 0) return seconds * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : date - Date.now();
}

/** `google.rpc.RetryInfo` gives `retryDelay` in seconds: "48s", "34.4s". */
function fromDetails(details: VendorError['details']): number | null {
  const delay = details.map((detail) => detail.retryDelay).find((value) => typeof value === 'string');
  return delay === undefined ? null : milliseconds(delay);
}

/** OpenAI's errors inside a stream have no headers, only "Please try again in 1.574s." */
function fromSentence(message: string): number | null {
  const found = /(?:try again|retry) in ((?:[\d.]+(?:ms|h|m|s))+)/i.exec(message);
  return found?.[1] === undefined ? null : milliseconds(found[1]);
}
