import { isJsonObject, type JsonObject, type JsonValue, jsonText } from '../../chat/json.js';
import { milliseconds } from '../../chat/text.js';
import { RefusedRequest } from '../../http/fetch.js';

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
function fromErrorObject(value: JsonValue | undefined, status: number | null, headers: Headers | null): VendorError {
  const outer: JsonObject = isJsonObject(value) ? value : typeof value === 'string' ? { message: value } : {};
  const inner = outer.error ?? outer;
  const error: JsonObject = isJsonObject(inner) ? inner : { message: inner };
  const code = error.code ?? error.status_code;
  const details = Array.isArray(error.details) ? error.details.filter(isJsonObject) : [];
  const cause = isJsonObject(error.details) ? error.details.error_code : undefined;
  return {
    status: status ?? (typeof code === 'number' && code >= 400 && code < 600 ? code : null),
    kinds: [cause, error.type, code, error.status, outer.type, outer.code, ...details.map((detail) => detail.reason)]
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

/**
 * OpenAI and Anthropic keep the error object of a stream in `error`, Google puts its JSON into the message, Ollama only
 * the text.
 */
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

/** Words by which a server says that it does not accept part of a request. */
const REASON =
  /unsupported|unrecogni[sz]ed|unknown|unexpected|(?:not|n['’]t|no) (?:be |yet ){0,2}(?:support|accept|allow|permit|enabled|available|take)|cannot (?:take|accept|use|process)|invalid/i;

/** Words about an address, a network or a browser. */
const ABOUT_ADDRESS =
  /\b(?:url|uri|path|route|page|resource|host|domain|endpoint|method|address|browser|javascript)\b/i;

/** The HTML elements that do not end a sentence. */
const INLINE: ReadonlySet<string> = new Set(['a', 'b', 'code', 'em', 'i', 'kbd', 'span', 'strong', 'tt']);

/** Marks the end of a sentence. It does not occur in pages. */
const BREAK = '\u0000';

/**
 * The first sentence on a web page that says what the server does not accept, or null. Some proxies put a server's
 * error into a page.
 */
export function reasonOnPage(page: string): string | null {
  let text = '';
  for (const piece of page.split('<').slice(1)) {
    const end = piece.indexOf('>');
    const name = /^\/?([a-z0-9]{0,20})/i.exec(piece)?.[1]?.toLowerCase() ?? '';
    if (!INLINE.has(name)) text += BREAK;
    if (end >= 0 && !((name === 'script' || name === 'style') && !piece.startsWith('/'))) text += piece.slice(end + 1);
  }
  const sentences = text.split(BREAK).map((sentence) => plain(sentence));
  return sentences.find((sentence) => REASON.test(sentence) && !ABOUT_ADDRESS.test(sentence)) ?? null;
}

const plain = (text: string): string =>
  text
    .replace(/&(?:quot|#34|#x22);/gi, '"')
    .replace(/&(?:apos|#39|#x27);/gi, "'")
    .replace(/&amp;/gi, '&')
    .trim();

/**
 * How long the server asked to wait, in milliseconds: in a header, in Google's `RetryInfo`, or in its message; null if
 * it did not. Zero and past times count as null, because all attempts would be made at once.
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

/**
 * OpenAI's errors inside a stream have no headers, only "Please try again in 1.574s." Azure says "Please retry after 60
 * seconds.", GitHub "Please wait 60 seconds before retrying."
 */
function fromSentence(message: string): number | null {
  const short = message.replace(
    /(\d) ?(s)ec(?:ond)?s?\b|(\d) ?(m)in(?:ute)?s?\b|(\d) ?(h)(?:ou)?rs?\b|(\d) ?(d)ays?\b/gi,
    (_, ...groups) => groups.slice(0, 8).join('').toLowerCase(),
  );
  const found = /(?:try again|retry|wait|resets?)(?: in| after| for)? ((?:[\d.]+(?:ms|d|h|m|s) ?)+)/i.exec(short);
  return found?.[1] === undefined ? untilReset(message) : milliseconds(found[1]);
}

/**
 * "resets at 15:00", "resets 3pm (UTC)", "resets at 2026-11-25T15:00:00Z": the next such time, by this machine's clock
 * unless it says UTC.
 */
function untilReset(message: string, now = new Date()): number | null {
  const [, iso] = /resets? (?:at |on )?(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))/i.exec(message) ?? [];
  if (iso !== undefined) return Date.parse(iso) - now.getTime();
  const found = /resets? (?:at )?(\d{1,2})(?::(\d\d))? ?(am|pm)?\b(?: ?\(?(UTC|GMT))?/i.exec(message);
  const [, hour = '', minute, half, zone] = found ?? [];
  if (hour === '' || (minute === undefined && half === undefined)) return null;
  const hours = (Number(hour) % (half === undefined ? 24 : 12)) + (half?.toLowerCase() === 'pm' ? 12 : 0);
  const due = new Date(now);
  if (zone === undefined) due.setHours(hours, Number(minute ?? 0), 0, 0);
  else due.setUTCHours(hours, Number(minute ?? 0), 0, 0);
  const wait = due.getTime() - now.getTime();
  return wait > 0 ? wait : wait + 24 * 3_600_000;
}

/**
 * Messages for a prompt that exceeds the window. Only OpenAI has a code for it; the others are recognised by their
 * text: OpenAI, Anthropic, Google, Azure, Bedrock, GitHub, Groq, xAI, Mistral, Cohere, Cerebras, Together, DeepSeek,
 * DeepInfra, Databricks, Moonshot, MiniMax, Zhipu, Alibaba, OpenRouter, watsonx, Cloudflare, LiteLLM, vLLM, SGLang,
 * TGI, TabbyAPI, llama.cpp, LM Studio, Ollama and Ollama Cloud.
 */
const SENTENCES: readonly RegExp[] = [
  /context[_ ]length[_ ]exceeded|string_above_max_length|model_context_window_exceeded|contextwindowexceeded|tokens_limit_reached/,
  /exceed(?:s|ed)? (?:[\w']+ ){0,3}context (?:window|length|size|limit)/,
  /context (?:window|length|size) (?:has been |was |is )?(?:exceeded|exceeds|full)|context overflow/,
  /context (?:length|size|window) (?:of|is)(?: only)? \d/,
  /maximum context length|max(?:imum)? model context|max context length/,
  /maximum (?:prompt|input) length (?:is|of) \d/,
  /(?:greater|longer) than (?:[\w']+ ){0,3}(?:context|model) (?:length|size)/,
  /(?:prompt|input|request) (?:length |body )?(?:is )?too (?:long|large)/,
  /too long (?:to fit into|for) (?:the |this )?(?:model|context)/,
  /reduce the length of the messages/,
  /(?:input|prompt) token count.*(?:exceeds|supports)/,
  /prompt (?:length )?exceeds|input length (?:\d+ )?exceeds/,
  /exceed(?:s|ed)? (?:the )?(?:model token limit|max message tokens|model's maximum number of tokens)/,
  /too many tokens|token limit exceeded/,
  /range of input length should be|prompt 超长/,
  /`inputs`.{0,40} must (?:be|have) (?:<=|less than)/,
  /too_many_prompt_tokens|total length of all messages is too long/,
  /max_seq_len|truncation length exceeded|total tokens limit/,
  /(?:input|prompt) tokens? exceed|tokens? exceeds (?:the )?max|prompt token count [^.]{0,30}cannot exceed/,
  /tokens (?:\d+ )?\+ `?max(?:_new_|_| )tokens`? (?:\d+ )?must be/,
  /输入长度超|长度超过/,
  /too (?:big|large|long) compared to (?:the )?kv|n_tokens(?:_all)? <= (?:\w+\.)?n_(?:u?batch|ctx)/,
];

/** Of words that nobody has collected: what is long, than what, and nothing of files or of the answer. */
const UNKNOWN_SENTENCE: readonly RegExp[] = [
  /\b(?:prompt|sequence|conversation)\b/,
  /\btoo (?:big|many)\b|\b(?:longer|larger|bigger|more|greater) than\b|\bexceed(?:s|ed)?\b/,
  /\b(?:maximum|limit|allowed|supported|positions|context|kv)\b/,
];
const OF_SOMETHING_ELSE =
  /image|picture|audio|video|\bfile|document|byte|pixel|max_|output|completion|\btools?\b|function|system prompt/;

/** Limits on time or money, not on the window; their messages mention tokens too. */
const LIMITS = /rate limit|quota|throttl|please wait|per (?:minute|min|hour|day)\b|daily|monthly/;

/** True if the message says that the request exceeds the window. Not for status 429. */
export function saysOverflow(words: string): boolean {
  const text = words.toLowerCase();
  if (LIMITS.test(text)) return false;
  if (SENTENCES.some((sentence) => sentence.test(text))) return true;
  return !OF_SOMETHING_ELSE.test(text) && UNKNOWN_SENTENCE.every((words) => words.test(text));
}

/**
 * True if the request itself exceeds a limit of tokens per minute, so that waiting does not help: OpenAI and Groq say
 * "Request too large", or give the limit and the requested number.
 */
export function neverFitsRate(words: string): boolean {
  const text = words.toLowerCase().replaceAll(/(?<=\d),(?=\d)/g, '');
  if (!/tokens?/.test(text)) return false;
  const [limit, requested] = [/\blimit:? (\d+)/, /\brequested:? (\d+)/].map((name) => name.exec(text)?.[1]);
  if (limit !== undefined && requested !== undefined) return Number(requested) > Number(limit);
  return /request too large/.test(text);
}

/** True if the request has too many bytes for a server or a proxy, and not too many tokens. */
export const isBodyTooLarge = ({ status, kinds, message }: VendorError): boolean =>
  status === 413 && !/token|context/i.test(`${kinds.join(' ')} ${message}`);
