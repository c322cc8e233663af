import { isJsonObject, type JsonObject, type JsonValue, jsonText } from '../../../chat/json.js';
import { RefusedRequest } from '../../../http/fetch.js';
import { reasonOnPage } from './page-reason.js';

/** The kind of a response that is a web page, from a proxy, a firewall or a server that is not an API. */
export const WEB_PAGE = 'web_page';

/** A vendor's report of a failure, wherever it was found. */
export interface VendorError {
  /** The HTTP status, which a gateway may repeat inside a stream; null if there is none. */
  readonly status: number | null;
  /** The type, code, status and reason, as the vendor spells them. */
  readonly kinds: readonly string[];
  /** The vendor's message, possibly empty. */
  readonly message: string;
  /** The part of the request that OpenAI's protocol names, or null. */
  readonly param: string | null;
  readonly headers: Headers | null;
  /** Google's list of details (quota, delay, reason). */
  readonly details: readonly JsonObject[];
}

/** Reads an error of an SDK or our `fetch`; null if it did not come from a server. */
export function readVendorError(thrown: unknown): VendorError | null {
  for (let error = thrown, depth = 0; typeof error === 'object' && error !== null && depth < 5; depth += 1) {
    if (error instanceof RefusedRequest) return fromRefusal(error);
    const said = errorInStream(error);
    if (said !== null) return said;
    error = 'cause' in error ? error.cause : null;
  }
  return null;
}

/** Reads a server's error object in any vendor's form. */
export function fromErrorObject(
  value: JsonValue | undefined,
  status: number | null,
  headers: Headers | null,
): VendorError {
  const outer: JsonObject = isJsonObject(value) ? value : typeof value === 'string' ? { message: value } : {};
  const inner = outer.error ?? outer;
  const error: JsonObject = isJsonObject(inner) ? inner : { message: inner };
  const code = error.code ?? error.status_code;
  const details = Array.isArray(error.details) ? error.details.filter(isJsonObject) : [];
  const cause = isJsonObject(error.details) ? error.details.error_code : undefined;
  return {
    status: status ?? (typeof code === 'number' && code >= 400 && code < 600 ? code : null),
    kinds: [cause, error.type, code, error.status, outer.type, ...details.map((detail) => detail.reason)]
      .filter((word) => typeof word === 'string')
      .filter((word) => word !== 'error')
      .map(firstWords)
      .slice(0, MOST_KINDS),
    message: messageOf(error),
    param: paramOf(error.param),
    headers,
    details,
  };
}

/** LiteLLM writes Python's word for nothing. */
const paramOf = (param: JsonValue | undefined): string | null =>
  typeof param === 'string' && !/^(?:none|null)?$/i.test(param) ? firstWords(param) : null;

function fromRefusal(refusal: RefusedRequest): VendorError {
  const body = parse(refusal.body);
  if (body !== undefined) return fromErrorObject(body, refusal.status, refusal.headers);
  const page = refusal.body.trimStart().startsWith('<');
  const reason = page ? reasonOnPage(refusal.body) : refusal.body;
  const message = reason === null ? titleOf(refusal.body) : firstWords(reason);
  return {
    status: refusal.status,
    // A page that says what is not accepted comes from the API after all.
    kinds: reason === null ? [WEB_PAGE] : [],
    message,
    param: null,
    headers: refusal.headers,
    details: [],
  };
}

/** The title of a web page. */
function titleOf(page: string): string {
  return firstWords(/<title[^<>]{0,200}>([^<]*)</i.exec(page)?.[1] ?? '');
}

/** OpenAI and Anthropic keep the error object of a stream in `error`, Google puts its JSON into the message, Ollama only the text. */
function errorInStream(error: object): VendorError | null {
  if ('error' in error && typeof error.error === 'object' && error.error !== null) {
    return fromErrorObject(
      asJson(error.error),
      null,
      'headers' in error && error.headers instanceof Headers ? error.headers : null,
    );
  }
  if (!('message' in error) || typeof error.message !== 'string') return null;
  const start = error.message.indexOf('{"error"');
  const embedded = start < 0 ? undefined : parse(error.message.slice(start));
  return embedded === undefined ? null : fromErrorObject(embedded, null, null);
}

/** Gateways put the original server's message into `metadata.raw`, FastAPI servers use `detail`. */
function messageOf(error: JsonObject): string {
  const raw = isJsonObject(error.metadata) ? error.metadata.raw : null;
  const words = [error.message ?? error.detail, raw].filter((word) => typeof word === 'string' && word !== '');
  if (words.length > 0) return firstWords(words.join(': '));
  return Object.keys(error).length === 0 ? '' : firstWords(jsonText(error));
}

/** More kinds than this are ignored. */
const MOST_KINDS = 16;

function firstWords(text: string): string {
  const line = text.trim().replace(/\s+/g, ' ');
  return line.length > 500 ? `${line.slice(0, 500)}…` : line;
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asJson(value: object): JsonValue | undefined {
  return parse(jsonText(value));
}
