import { jsonText } from '../../chat/json.js';
import type { Vendor } from '../../chat/model.js';
import { capitalised, firstCharacters } from '../../chat/text.js';
import { type ErrorCode, HiError } from '../../errors.js';
import { mask, WebPage } from '../../http/failures.js';
import { RequestRefusal, UNSAID } from './provider.js';
import { hasNoReason, isByAFirewall, refusalOf, refusedBy } from './refusals.js';
import {
  isBodyTooLarge,
  neverFitsRate,
  readVendorError,
  retryAfter,
  saysOverflow,
  type VendorError,
  WEB_PAGE,
} from './vendor-error.js';

/** The model and server of a failed request. */
export interface FailureContext {
  readonly member: Pick<Vendor, 'name' | 'title' | 'keyVariables' | 'keyPage' | 'hints'>;
  /** The model of the request; null if it named none. */
  readonly model: string | null;
  /** Masked wherever a server repeats it. */
  readonly apiKey: string | null;
  /** Where the key comes from, in words. */
  readonly keySource?: string | undefined;
  /** The estimated size of the request, if known. */
  readonly tokens?: number;
}

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

/** llama.cpp says "Loading model", TGI and Hugging Face "Model … is currently loading". */
const LOADING = /\bloading\b(?! failed)/i;

/** Converts a vendor's error into a `HiError`. */
function fromVendor(error: VendorError, cause: unknown, context: FailureContext): HiError {
  const kind = kindOf(error, context.tokens);
  const refused = refusalOf(kind, error);
  // If the server says what it does not accept, the key, the model and the load are not the cause.
  const isSaid = refused !== null && refused.what !== 'unsaid' && kind !== 'window';
  const code = isSaid ? 'request' : kind;
  const wait = code === 'rate' || code === 'overload' || code === 'quota' ? retryAfter(error) : null;
  const { message, hint } = describe(code, error, context);
  const said = mask(capitalised(message), context.apiKey);
  const details = {
    hint: mask(wait !== null && wait >= MINUTE ? later(wait) : hint, context.apiKey),
    retryable: isRetryable(code, error),
    isLoading: code === 'overload' && error.status === 503 && LOADING.test(error.message),
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

/** Messages that show the kind of an error better than its status and type. */
const SENTENCES: readonly (readonly [RegExp, ErrorCode])[] = [
  // Anthropic (accounts), LiteLLM (budgets), Ollama (cloud), xAI, Moonshot, Alibaba and Zhipu use status 400 or 429.
  [
    /credit balance is too low|usage limits?\b|budget has been exceeded|exceeded (?:your|the) (?:current )?budget|insufficient (?:credits|funds|balance)|out of credits|(?:available|included) credits|\bspend(?:ing)?[ _-](?:limit|cap|budget)|key limit exceeded|in good standing|free-models-per-day|exceeded_current_quota|余额不足|欠费/,
    'quota',
  ],
  [/extra usage is required for long context/, 'window'],
  // xAI and gateways use status 400.
  [/(?:incorrect|invalid|wrong) api[ _]key|api key (?:not valid|not found|expired|is invalid)/, 'key'],
  [
    /invalid_prompt|usage (?:policy|guidelines)|(?:input|prompt|content|message) was flagged|flagged as potentially violating|content (?:management|filtering) policy|content exists risk|data_inspection_failed|inappropriate content|considered high risk|敏感内容/,
    'refused',
  ],
  [
    /deploymentnotfound|supported api model names? (?:are|is)|\bdecommissioned|\b(?:been|was) (?:retired|discontinued)/,
    'model',
  ],
  // Waiting does not help.
  [/requires more system memory|location is not supported/, 'request'],
];

/** The kind of a vendor's error. `tokens`: the estimated size of the request. */
function kindOf({ status, kinds, message, param, details }: VendorError, tokens = 0): ErrorCode {
  const words = kinds.join(' ').toLowerCase();
  const said = `${words} ${message.toLowerCase()}`;
  const means = (pattern: RegExp) => pattern.test(words);

  if (means(/insufficient_quota|billing|insufficient_balance|spend_limit|organization_on_hold/) || status === 402)
    return 'quota';
  if (means(/policy_violation|\bbio_policy/)) return 'refused';
  if (means(/data_residency/)) return 'request';
  const named = SENTENCES.find(([sentence]) => sentence.test(said));
  if (named) return named[1];
  if (status === 429 || means(/rate_limit|resource_exhausted/)) {
    if (neverFitsRate(said) || tokenQuota(details) < tokens) return 'window';
    if (status !== 413) return isDailyQuota(details) ? 'quota' : 'rate';
  }
  if (means(/content_filter|content_policy|moderation/)) return 'refused';
  if (means(/tool_use_failed/)) return 'malformed';
  if (status === 401 || means(/authentication|invalid_api_key|api_key_invalid|unauthenticated|organization_restricted/))
    return 'key';
  if (status === 413 || saysOverflow(said)) return 'window';
  if (means(/model_not_found/) || (status !== null && status < 500 && isAboutModel(said, status, param)))
    return 'model';
  // An API does not refuse a request with a web page; a firewall or a proxy does.
  if (isByAFirewall({ status, kinds, message })) return 'request';
  if (status === 403 && isAboutContent(said, message)) return 'refused';
  if (status === 403 || means(/permission/)) return 'key';
  if (status === 408) return 'network';
  if (means(/overloaded|unavailable|server_error|api_error|internal|timeout/)) return 'overload';
  // Some services give every failure the type of a bad request. Groq's 498 says that its flex tier is full.
  if (status === 503 || status === 529 || status === 498) return 'overload';
  if (means(/invalid_request|invalid_argument|not_found/)) return 'request';
  // An error inside a stream that does not name its kind happened while the model was running.
  return status === null || status >= 500 ? 'overload' : 'request';
}

/** True if the content is forbidden, and not the key, for which there are policies too. */
const isAboutContent = (said: string, message: string): boolean =>
  OF_THE_CONTENT.some((words) => words.test(said)) && !OF_THE_ACCOUNT.test(message.toLowerCase());

const OF_THE_CONTENT: readonly RegExp[] = [
  /\b(?:content|safety|moderation|responsible ai|acceptable use)[ _-](?:polic(?:y|ies)|filter|guidelines?|system|settings?|checks?|rules?|violations?|reasons?|restrictions?)/,
  /\b(?:unsafe|harmful|disallowed|prohibited|forbidden|sensitive|objectionable|offensive|illegal|toxic) (?:content|prompt|input|material|text|image|language)\b/,
  /\b(?:content|prompt|input|message) (?:is |was |has been )?(?:violat|block|flag|prohibit|unsafe|harmful|disallowed)/,
  /\bguardrail|\bjailbreak|\b(?:for|due to|because of) (?:safety|policy)\b/,
];
const OF_THE_ACCOUNT =
  /\baccounts?\b|\borgani[sz]ation|\bkeys?\b|permission|\biam\b|\bprojects?\b|\bbilling|credential|\bip\b|\baccess to\b|\bsuspended|\bregion|\bcountry|\bservice control/;

/** Google's limit of prompt tokens per minute, if it refused the request because of it. A larger request never fits. */
function tokenQuota(details: VendorError['details']): number {
  const found = violations(details).find((violation) => /"quotaId":"[^"]*InputTokens[^"]*PerMinute/.test(violation));
  return Number(/"quotaValue":"?(\d+)/.exec(found ?? '')?.[1] || Number.POSITIVE_INFINITY);
}

/**
 * True for Google's daily quotas, which the name shows, and for a model outside the plan, which has a quota of zero.
 */
function isDailyQuota(details: VendorError['details']): boolean {
  return violations(details).some((violation) => /"quotaId":"[^"]*PerDay|"quotaValue":"0"/.test(violation));
}

const violations = (details: VendorError['details']): readonly string[] =>
  details
    .flatMap((detail) => (Array.isArray(detail.violations) ? detail.violations : []))
    .map((violation) => firstCharacters(jsonText(violation), 2000));

/** Anthropic's whole message is "model: NAME", Google's says "models/NAME is not found". */
function isAboutModel(said: string, status: number, param: string | null): boolean {
  if (param !== null && !/model/i.test(param)) return false;
  if (status === 404 && /\bmodels?\b/.test(said)) return true;
  return /model\b.{0,80}\b(?:not found|not exist|not available|no access|not have access)|not a valid model|(?:unknown|invalid|no such) model(?! (?:param|option|setting|input|argument|config|field|request|output))/.test(
    said,
  );
}

/** Whether the same request may succeed later. */
function isRetryable(code: ErrorCode, { headers, status, message }: VendorError): boolean {
  if (code === 'quota' || code === 'key') return false;
  if (headers?.get('x-should-retry') === 'false') return false;
  if (status === 409) return code !== 'model' && TEMPORARY_CONFLICT.test(message);
  return code === 'rate' || code === 'overload' || code === 'network' || code === 'malformed';
}

/** A temporary conflict: with another request, or with the state of the server. Others are permanent. */
const TEMPORARY_CONFLICT =
  /\block(?:ed)?\b|time.?out|timed out|concurren|in progress|another request|try again|retry|busy|loading|starting|aborted|wait/i;

const MINUTE = 60_000;

/** The hint for a long wait. */
function later(wait: number): string {
  const minutes = Math.ceil(wait / MINUTE);
  const time = minutes <= 120 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
  return `The server asks to wait ${time}. Then try again (/retry in hi chat), or use another model.`;
}

/** The message and the hint. */
function describe(code: ErrorCode, error: VendorError, context: FailureContext): { message: string; hint: string } {
  const { member, model } = context;
  const { title } = member;
  const said =
    error.message === '' ? (error.status === null ? '.' : ` (HTTP ${error.status}).`) : `: ${sentence(error.message)}`;
  switch (code) {
    case 'key':
      return { message: `${title} ${refusedKey(error, context)}${said}`, hint: keyHint(error, context) };
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
      if (isBodyTooLarge(error))
        return {
          message: `${title} does not accept a request of this size${said}`,
          hint: 'A server or a proxy before it limits the bytes of a request (nginx: client_max_body_size). Raise that, or send less: /compact, or a smaller attachment.',
        };
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
        hint: 'Rephrase it: the conversation goes on without this message. If an earlier message is the cause, /undo takes back the previous turn.',
      };
    case 'malformed':
      return {
        message: `The model ${MISUSED_TOOL.test(error.kinds.join(' ')) ? 'misused a tool' : 'gave a malformed answer'}${said}`,
        hint: 'Try again (/retry in hi chat).',
      };
    default:
      return { message: `${title} did not accept the request${said}`, hint: requestHint(error, context) };
  }
}

const MISUSED_TOOL = /tool_use_failed/;

/** A status of 403 says that the key is known. */
function refusedKey({ status }: VendorError, { keySource, apiKey }: FailureContext): string {
  if (status === 403) return 'denied access';
  if (keySource !== undefined && apiKey === null) return 'wants an API key';
  return keySource === undefined ? 'refused the API key' : `refused the API key from ${keySource}`;
}

function keyHint({ status, message }: VendorError, { keySource, member }: FailureContext): string {
  const { hints, keyVariables, keyPage } = member;
  if (hints?.key !== undefined) return hints.key;
  const where = keySource ?? [...keyVariables.slice(0, 1), 'api_key in the configuration'].join(', or ');
  // The key is valid, and the server's message says what is wrong: a region, a project, a model that the key does not
  // include.
  const change = where.startsWith('the command')
    ? `Let ${where} print`
    : `Set ${where}${keySource === undefined ? ',' : ''} to`;
  const valid = `${change} a valid key${keyPage === null ? '.' : ` (get one at ${keyPage}).`}`;
  if (status === 403 && hasNoReason(message))
    return `${valid} If \`hi config check --live\` passes, the key is valid and the server refuses earlier content: /undo takes back the previous turn.`;
  if (status === 403) return `Fix this in the account, or use another key: ${where}.`;
  return valid;
}

function modelHint({ hints }: FailureContext['member'], model: string | null): string {
  return hints?.model?.(model ?? 'NAME') ?? 'Choose another with /model or -m; `hi config check --live` tests it.';
}

function requestHint(
  error: VendorError,
  { member: { hints }, model }: Pick<FailureContext, 'member' | 'model'>,
): string {
  const { kinds, message, status } = error;
  if (/system memory/i.test(message)) return 'Set a smaller context_window, or use a smaller model.';
  if (/location is not supported/i.test(message)) return 'Use another provider, or a network in a supported region.';
  if (status === 403 && !kinds.includes(WEB_PAGE) && isByAFirewall(error))
    return 'A firewall seems to be in between. Check api_base, the network, and HTTPS_PROXY if you need one.';
  if (status === 403 && kinds.includes(WEB_PAGE))
    return 'The answer is a web page, perhaps from a firewall. Check api_base, the network, and HTTPS_PROXY if you need one.';
  const refused = refusedBy({ ...error, status: status ?? 400 });
  if (refused?.what === 'files') return 'Make the file smaller, or send it in another format (PNG, JPEG, plain text).';
  if (refused?.what === 'thinking') {
    return 'Choose another level with --think or /think, or change `thinking` in the configuration.';
  }
  const feature = refused?.what === 'features' ? refused.features[0] : undefined;
  if (feature === 'tools') return 'Turn tools off (--no-tools), or use a model that supports them.';
  if (feature === 'images') return 'Use a model with vision for images. The conversation goes on without this message.';
  if (feature === 'documents')
    return 'Send the text of the document instead. The conversation goes on without this message.';
  if (isNothingThere(error)) {
    const path = hints?.path ?? 'Nothing answers at this path: check api_base.';
    if (model === null || status === 405) return path;
    return `${path} If other models answer, there is no '${model}': choose another with /model or -m.`;
  }
  return 'Use another model, or run again with --debug to see what was sent.';
}

/** The text with punctuation at the end. */
function sentence(text: string): string {
  return /[.!?…]\)?$/.test(text) ? text : `${text}.`;
}

/** What a server says that has nothing at the path of a request; null if the failure is another one. */
export function missingPath(thrown: unknown): string | null {
  const error = readVendorError(thrown);
  if (error === null || !isNothingThere(error)) return null;
  return `${error.message || `HTTP ${error.status}`}.`.replace(/\.\.$/, '.');
}

/** Whether there is nothing at the path, or nothing that takes a request. */
const isNothingThere = ({ status, kinds, message }: VendorError): boolean =>
  status === 405 || (status === 404 && (kinds.includes(WEB_PAGE) || isMissingPath(message)));

/** The words of messages that say only "not found". */
const NOT_FOUND: ReadonlySet<string> = new Set(['http', 'error', 'not', 'found', 'page', 'file', 'resource', 'the']);

/** True if the message says that the path does not exist, or only "not found". */
const isMissingPath = (message: string): boolean =>
  /\b(?:path|route|url|endpoint|cannot (?:get|post))\b/i.test(message) ||
  (message.toLowerCase().match(/[a-z]+/g) ?? []).every((word) => NOT_FOUND.has(word));
