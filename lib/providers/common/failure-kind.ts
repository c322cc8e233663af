import { jsonText } from '../../chat/nesting.js';
import type { ErrorCode } from '../../errors.js';
import { neverFitsRate, saysOverflow } from './overflow.js';
import { type VendorError, WEB_PAGE } from './vendor-error.js';

/** The kind of a vendor's error. */
export function kindOf({ status, kinds, message, details }: VendorError): ErrorCode {
  const words = kinds.join(' ').toLowerCase();
  const said = `${words} ${message.toLowerCase()}`;
  const means = (pattern: RegExp) => pattern.test(words);

  if (means(/insufficient_quota|billing|insufficient_balance/) || status === 402) return 'quota';
  if (status === 429 || means(/rate_limit|resource_exhausted/)) {
    if (neverFitsRate(said)) return 'window';
    if (status !== 413) return isDailyQuota(details) ? 'quota' : 'rate';
  }
  if (means(/content_filter|content_policy|moderation/)) return 'refused';
  if (means(/tool_use_failed/)) return 'malformed';
  if (status === 401 || means(/authentication|invalid_api_key|api_key_invalid|unauthenticated/)) return 'key';
  if (status === 413 || saysOverflow(said)) return 'window';
  if (means(/model_not_found/) || (status !== null && status < 500 && isAboutModel(said, status))) return 'model';
  // A service does not refuse a request for data with a page: a firewall or a proxy does.
  if (status === 403 && kinds.includes(WEB_PAGE)) return 'request';
  if (status === 403 || means(/permission/)) return 'key';
  if (status === 408) return 'network';
  if (means(/overloaded|unavailable|server_error|api_error|internal|timeout/)) return 'overload';
  if (means(/invalid_request|invalid_argument|not_found/)) return 'request';
  // An error inside a stream that does not name its kind happened while the model was running.
  return status === null || status >= 500 ? 'overload' : 'request';
}

/** Google marks a daily quota by its name, and a model outside the plan by a quota of zero. */
function isDailyQuota(details: VendorError['details']): boolean {
  return details
    .flatMap((detail) => (Array.isArray(detail.violations) ? detail.violations : []))
    .some((violation) => /"quotaId":"[^"]*PerDay|"quotaValue":"0"/.test(jsonText(violation)));
}

/** Anthropic's whole message is "model: NAME", Google's says "models/NAME is not found". */
function isAboutModel(said: string, status: number): boolean {
  if (status === 404 && /\bmodels?\b/.test(said)) return true;
  return /model\b.{0,80}\b(?:not found|not exist|not available|no access|not have access)|not a valid model|(?:unknown|invalid|no such) model/.test(
    said,
  );
}

/** Whether the same request may succeed later. */
export function isRetryable(code: ErrorCode, { headers, status }: VendorError): boolean {
  if (code === 'quota' || code === 'key') return false;
  if (headers?.get('x-should-retry') === 'false') return false;
  return code === 'rate' || code === 'overload' || code === 'network' || code === 'malformed' || status === 409;
}
