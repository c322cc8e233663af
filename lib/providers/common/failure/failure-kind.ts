import { jsonText } from '../../../chat/json.js';
import { firstCharacters } from '../../../chat/text.js';
import type { ErrorCode } from '../../../errors.js';
import { neverFitsRate, saysOverflow } from './overflow.js';
import { isByAFirewall } from './refusals.js';
import type { VendorError } from './vendor-error.js';

/** Messages that show the kind of an error better than its status and type. */
const SENTENCES: readonly (readonly [RegExp, ErrorCode])[] = [
  // Anthropic (accounts), LiteLLM (budgets), Ollama (cloud), xAI, Moonshot, Alibaba and Zhipu use status 400 or 429.
  [
    /credit balance is too low|usage limits?\b|budget has been exceeded|exceeded (?:your|the) (?:current )?budget|insufficient (?:credits|funds|balance)|(?:available|included) credits|spending limit|in good standing|free-models-per-day|exceeded_current_quota|余额不足|欠费/,
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
export function kindOf({ status, kinds, message, param, details }: VendorError, tokens = 0): ErrorCode {
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
  if (status === 401 || means(/authentication|invalid_api_key|api_key_invalid|unauthenticated/)) return 'key';
  if (status === 413 || saysOverflow(said)) return 'window';
  if (means(/model_not_found/) || (status !== null && status < 500 && isAboutModel(said, status, param)))
    return 'model';
  // An API does not refuse a request with a web page; a firewall or a proxy does.
  if (isByAFirewall({ status, kinds, message })) return 'request';
  if (status === 403 && isAboutContent(said, message)) return 'refused';
  if (status === 403 || means(/permission/)) return 'key';
  if (status === 408) return 'network';
  if (means(/overloaded|unavailable|server_error|api_error|internal|timeout/)) return 'overload';
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

/** True for Google's daily quotas, which the name shows, and for a model outside the plan, which has a quota of zero. */
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
export function isRetryable(code: ErrorCode, { headers, status, message }: VendorError): boolean {
  if (code === 'quota' || code === 'key') return false;
  if (headers?.get('x-should-retry') === 'false') return false;
  if (status === 409) return code !== 'model' && TEMPORARY_CONFLICT.test(message);
  return code === 'rate' || code === 'overload' || code === 'network' || code === 'malformed';
}

/** A temporary conflict: with another request, or with the state of the server. Others are permanent. */
const TEMPORARY_CONFLICT =
  /\block(?:ed)?\b|time.?out|timed out|concurren|in progress|another request|try again|retry|busy|loading|starting|aborted|wait/i;
