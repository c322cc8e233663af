import { capitalised } from '../../../chat/text.js';
import { HiError } from '../../../errors.js';
import { WebPage } from '../../../http/failures.js';
import { mask } from '../../../http/mask-key.js';
import { RequestRefusal, UNSAID } from '../provider.js';
import { isRetryable, kindOf } from './failure-kind.js';
import { describe, type FailureContext, later, MINUTE, sentence } from './failure-text.js';
import { refusalOf } from './refusals.js';
import { retryAfter } from './retry-after.js';
import { readVendorError, type VendorError } from './vendor-error.js';

/** Converts any error of a request into a `HiError` with a code, a message and a hint. Never contains the key. */
export function asFailure(thrown: unknown, context: FailureContext): HiError {
  const ours = findHiError(thrown);
  if (ours instanceof WebPage) return asRefusal(ours);
  if (ours !== null) return ours;
  const cause = maskedCopy(thrown, context.apiKey);
  const error = readVendorError(thrown);
  if (error !== null) return fromVendor(error, cause, context);
  return fromSdk(thrown, cause, context);
}

/** Converts a vendor's error into a `HiError`. */
export function fromVendor(error: VendorError, cause: unknown, context: FailureContext): HiError {
  const kind = kindOf(error, context.tokens);
  const refused = refusalOf(kind, error);
  // If the server says what it does not accept, the key, the model and the load are not the cause.
  const isSaid = refused !== null && refused.what !== 'unsaid' && kind !== 'window';
  const code = isSaid ? 'request' : kind;
  const wait = code === 'rate' || code === 'overload' ? retryAfter(error) : null;
  const { message, hint } = describe(code, error, context);
  const said = mask(capitalised(message), context.apiKey);
  const details = {
    hint: mask(wait !== null && wait >= MINUTE ? later(wait) : hint, context.apiKey),
    retryable: isRetryable(code, error),
    cause,
    ...(wait === null ? {} : { retryAfter: wait }),
  };
  if (refused === null) return new HiError(code, said, details);
  const words = mask(error.message === '' ? `HTTP ${error.status}` : sentence(error.message), context.apiKey);
  return new RequestRefusal(code, said, { ...details, refused, said: words, param: error.param });
}

/** A web page instead of an answer may come from a firewall that rejected the content. */
function asRefusal({ code, message, hint, cause }: WebPage): RequestRefusal {
  return new RequestRefusal(code, message, { ...UNSAID, ...(hint !== null && { hint }), cause, said: 'a web page' });
}

/** Converts an error of an SDK itself. */
function fromSdk(thrown: unknown, cause: unknown, { member, apiKey }: FailureContext): HiError {
  const name = wordOf(thrown, 'name');
  const message = mask(wordOf(thrown, 'message'), apiKey);
  if (/Timeout/.test(name)) {
    return new HiError('network', capitalised(`${member.title} cannot be reached.`), {
      hint: 'Check the network connection, and HTTPS_PROXY if you need one.',
      retryable: true,
      cause,
    });
  }
  if (name === 'SyntaxError' || /JSON/.test(message)) {
    return new RequestRefusal(
      'malformed',
      capitalised(`${member.title} sent a response that hi cannot read: ${sentence(message)}`),
      {
        ...UNSAID,
        hint: 'Try again (/retry in hi chat). If it happens every time, check api_base.',
        retryable: true,
        cause,
        said: 'an answer that cannot be read',
      },
    );
  }
  return new HiError('bug', message, { hint: 'This is a bug in hi. Run again with --debug to see where.', cause });
}

function findHiError(thrown: unknown): HiError | null {
  for (let error = thrown, depth = 0; typeof error === 'object' && error !== null && depth < 5; depth += 1) {
    if (error instanceof HiError) return error;
    error = 'cause' in error ? error.cause : null;
  }
  return null;
}

/** A copy of the error without the key. SDK errors contain the server's text, which may repeat the key. */
function maskedCopy(thrown: unknown, apiKey: string | null): Error {
  const copy = new Error(mask(wordOf(thrown, 'message'), apiKey));
  copy.name = wordOf(thrown, 'name') || 'Error';
  const stack = mask(wordOf(thrown, 'stack'), apiKey);
  if (stack !== '') copy.stack = stack;
  return copy;
}

function wordOf(thrown: unknown, field: string): string {
  if (typeof thrown !== 'object' || thrown === null) return field === 'message' ? String(thrown) : '';
  const value: unknown = Reflect.get(thrown, field);
  return typeof value === 'string' ? value : '';
}
