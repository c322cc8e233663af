import type { Vendor } from '../../chat/vendor.js';
import { type ErrorCode, HiError } from '../../errors.js';
import { mask } from '../../http/mask-key.js';
import { isRetryable, kindOf } from './failure-kind.js';
import { type Refused, RequestRefusal } from './provider.js';
import { refusedBy } from './refusals.js';
import { retryAfter } from './retry-after.js';
import { readVendorError, type VendorError, WEB_PAGE } from './vendor-error.js';

/** What a failure is about. */
export interface FailureContext {
  readonly member: Pick<Vendor, 'name' | 'title' | 'keyVariables' | 'keyPage' | 'hints'>;
  /** The model that was asked; null where none was. */
  readonly model: string | null;
  /** Masked wherever a server repeats it. */
  readonly apiKey: string | null;
}

/** Anything thrown on the way to a vendor and back, as the `HiError` of its kind, with a sentence and the next step. Never contains the key. */
export function asFailure(thrown: unknown, context: FailureContext): HiError {
  const ours = findHiError(thrown);
  if (ours !== null) return ours;
  const cause = maskedCopy(thrown, context.apiKey);
  const error = readVendorError(thrown);
  if (error !== null) return fromVendor(error, cause, context);
  return fromSdk(thrown, cause, context);
}

/** A vendor's error as the `HiError` of its kind. */
export function fromVendor(error: VendorError, cause: unknown, context: FailureContext): HiError {
  const code = kindOf(error);
  const wait = code === 'rate' || code === 'overload' ? retryAfter(error) : null;
  const refused = refusalOf(code, error);
  const { message, hint } = describe(refused === null ? code : 'request', error, context);
  const said = mask(capitalised(message), context.apiKey);
  if (refused !== null) {
    const words = mask(error.message === '' ? `HTTP ${error.status}` : sentence(error.message), context.apiKey);
    return new RequestRefusal(said, { hint: mask(hint, context.apiKey), cause }, refused, words);
  }
  return new HiError(code, said, {
    hint: mask(wait !== null && wait >= MINUTE ? later(wait) : hint, context.apiKey),
    retryable: isRetryable(code, error),
    cause,
    ...(wait === null ? {} : { retryAfter: wait }),
  });
}

/** What of the request an error of this kind is about; null when it is about none of it. What a gateway has not got for a feature it calls a missing model. */
function refusalOf(code: ErrorCode, error: VendorError): Refused | null {
  if (code === 'request' || code === 'overload') return refusedBy(error);
  const refused = code === 'model' ? refusedBy(error) : null;
  return refused?.what === 'features' ? refused : null;
}

const MINUTE = 60_000;

/** The hint for a wait that is longer than somebody may want to spend on it. */
function later(wait: number): string {
  const minutes = Math.ceil(wait / MINUTE);
  const time = minutes <= 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
  return `The server asks to wait ${time}. Then try again (/retry in hi chat), or use another model.`;
}

function describe(
  code: ErrorCode,
  error: VendorError,
  { member, model }: FailureContext,
): { message: string; hint: string } {
  const { title } = member;
  const said =
    error.message === '' ? (error.status === null ? '.' : ` (HTTP ${error.status}).`) : `: ${sentence(error.message)}`;
  switch (code) {
    case 'key':
      return { message: `${title} refused the API key${said}`, hint: keyHint(error, member) };
    case 'model':
      return { message: `${title} has no model '${model ?? '?'}'${said}`, hint: modelHint(member, model) };
    case 'rate':
      return {
        message: `The rate limit of ${title} is reached${said}`,
        hint: 'Wait a moment, then try again (/retry in hi chat).',
      };
    case 'quota':
      return {
        message: `The quota at ${title} is used up${said}`,
        hint: 'Check the plan and billing of the account, or use another model or provider.',
      };
    case 'window':
      return {
        message: `The request does not fit the context window of '${model ?? '?'}'${said}`,
        hint: 'Shorten the conversation with /compact, or correct context_window in the configuration.',
      };
    case 'overload':
      return {
        message: `${title} had an error${said}`,
        hint: 'Try again later (/retry in hi chat), or use another model.',
      };
    case 'network':
      return { message: `${title} gave up waiting${said}`, hint: 'Try again (/retry in hi chat).' };
    case 'refused':
      return {
        message: `${title} refused the content${said}`,
        hint: 'Rephrase it. /undo takes the last message back.',
      };
    case 'malformed':
      return { message: `The model gave a malformed answer${said}`, hint: 'Try again (/retry in hi chat).' };
    default:
      return { message: `${title} did not accept the request${said}`, hint: requestHint(error, member) };
  }
}

function keyHint({ status, message }: VendorError, { hints, keyVariables, keyPage }: FailureContext['member']): string {
  if (hints?.key !== undefined) return hints.key;
  const where = [...keyVariables.slice(0, 1), 'api_key in the configuration'].join(', or ');
  // The key is valid, and the message of the server says what to act on: a region, a project, a model that it is not for.
  if (status === 403 && message !== '') return `Fix that in the account of the key, or set ${where}, to another key.`;
  return `Set ${where}, to a valid key${keyPage === null ? '.' : ` (get one at ${keyPage}).`}`;
}

function modelHint({ hints }: FailureContext['member'], model: string | null): string {
  return hints?.model?.(model ?? 'NAME') ?? 'Choose another with /model or -m; `hi config check --live` tests it.';
}

function requestHint({ kinds, message, status }: VendorError, { hints }: FailureContext['member']): string {
  if (/does not support tools/i.test(message)) return 'Turn tools off (--no-tools), or use a model that supports them.';
  if (/does not support thinking|effort|reasoning|thinking/i.test(message)) {
    return 'Change `thinking` in the configuration (null leaves it to the vendor), or use another model.';
  }
  if (/image|vision|media/i.test(message)) return 'Use a model with vision, or take the message back with /undo.';
  if (status === 403 && kinds.includes(WEB_PAGE))
    return 'The answer is a web page, perhaps from a firewall. Check api_base, the network, and HTTPS_PROXY if you need one.';
  if (status === 404 || status === 405) return hints?.path ?? 'Nothing answers at this path: check api_base.';
  return 'Use another model, or run again with --debug to see what was sent.';
}

/** An error of an SDK itself, where no server reported one. */
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
    return new HiError(
      'malformed',
      capitalised(`${member.title} sent something that hi cannot read: ${sentence(message)}`),
      {
        hint: 'Try again (/retry in hi chat). If it happens every time, check api_base.',
        retryable: true,
        cause,
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

/** The errors of the SDKs carry the server's text, which may repeat the key, so a copy without it is kept. */
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

/** The text as the beginning of a sentence. */
export function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function sentence(text: string): string {
  return /[.!?…]\)?$/.test(text) ? text : `${text}.`;
}
