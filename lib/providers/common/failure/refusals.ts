import { THINKING_LEVELS, type ThinkingLevel } from '../../../chat/model.js';
import type { ErrorCode } from '../../../errors.js';
import type { Refused } from '../provider.js';
import { outputLimitIn } from './output-limit.js';
import { isBodyTooLarge, saysOverflow } from './overflow.js';
import { DENIAL, OTHER_API, PARAMS, SENTENCES } from './refusal-sentences.js';
import { type VendorError, WEB_PAGE } from './vendor-error.js';

/** What the server does not accept; null if its message does not say. */
export function refusedBy({ status, kinds, message, param }: VendorError): Refused | null {
  if (status !== null && (status < 400 || NOT_ABOUT_REQUEST.has(status))) return null;
  const said = `${kinds.join(' ')} ${message}`.toLowerCase();
  if (saysOverflow(said)) return null;
  const words = param === null ? said : `${param.toLowerCase()} ${said}`;
  const most = outputLimitIn(words);
  if (most !== null) return { what: 'output', most };
  const isThinking = /effort|reasoning|thinking/.test(words);
  const api = OTHER_API.find(({ words: own }) => own.test(words));
  if (api !== undefined) return api.refused;
  const named = PARAMS.find(([pattern]) => param !== null && pattern.test(param));
  if (named && !isThinking) return named[1];
  const denied = DENIAL.test(said);
  const about = words.replace(SUPPORTED_LIST, '');
  const found = SENTENCES.find(
    ({ alone, also, words: own }) => (alone || denied) && own.test(about) && (also?.test(about) ?? true),
  )?.refused;
  if (found?.what === 'thinking') return { ...found, levels: unsupportedLevels(said) ?? found.levels };
  return found ?? null;
}

/** The list of supported values, which are not refused. */
const SUPPORTED_LIST = /supported values are:? [^.]*/;

/** The levels that are missing from a list of supported ones; null if there is no list. */
function unsupportedLevels(said: string): readonly ThinkingLevel[] | null {
  const list =
    /\b(?:supported|allowed|valid|possible) (?:values?|levels?|efforts?)\b([^.]*)|must be one of([^.]*)|should be ('[^.]*)/.exec(
      said,
    );
  const words =
    (list?.[1] ?? list?.[2] ?? list?.[3] ?? '').match(/\b(?:none|minimal|off|low|medium|high|xhigh|max)\b/g) ?? [];
  if (words.length === 0) return null;
  const supported = words.map((word) => (word === 'none' || word === 'minimal' ? 'off' : word));
  return THINKING_LEVELS.filter((level) => !supported.includes(level));
}

/** Statuses about the key, the account or the load, and not about the request. */
const NOT_ABOUT_REQUEST: ReadonlySet<number> = new Set([401, 402, 407, 408, 429, 502, 503, 504]);

/** The part of the request that the server refused; null if the request is not the cause. */
export function refusalOf(code: ErrorCode, error: VendorError): Refused | null {
  const words = `${error.kinds.join(' ')} ${error.message}`.toLowerCase();
  switch (code) {
    case 'request':
      return refusedBy(error) ?? unsaid(isAboutRequest(error, words), !isByAFirewall(error));
    case 'overload':
      return refusedBy(error) ?? unavailableFeatures(error) ?? unsaid(!isBusy(error, words), false);
    case 'malformed':
      return unsaid(/tool_use_failed/.test(words), false);
    case 'model':
      // A gateway without a model for a feature reports a missing model.
      return withMissingModel(refusedBy(error), words);
    case 'key':
      // A valid key may not include images.
      if (!KEY_ERROR.test(words)) {
        const refused = onlyFeatures(refusedBy({ ...error, status: null }));
        if (refused !== null) return refused;
      }
      return unsaid(error.status === 403 && hasNoReason(error.message), false);
    case 'window':
      // Too many bytes rather than too many tokens.
      return isBodyTooLarge(error) ? { what: 'files' } : null;
    case 'quota':
    case 'rate':
      return unavailableFeatures(error);
    default:
      return null;
  }
}

/** A plan or a deployment lacks the feature. Waiting does not help. */
const UNAVAILABLE =
  /\b(?:not|n['’]t) (?:be )?(?:yet )?(?:support|accept|allow|available|enabled|permitted|included|offered)|unsupported/;
const REQUIRES = /\b(?:requires?|needs?|only (?:available|included|supported)) /;
const PLAN = /\b(?:paid|higher|plan|tier|subscription|upgrade)/;

const TEMPORARY =
  /\blimits?\b|quota|exceed|too many|per[ -](?:second|minute|min|hour|day|month)|try again|later\b|balance|credits?\b|budget|current|moment|temporar|busy|\bload|capacity/;

/** The unavailable features, even if the status is about the account or the load. */
function unavailableFeatures(error: VendorError): Refused | null {
  const said = error.message.toLowerCase();
  const isMissing = UNAVAILABLE.test(said) || (REQUIRES.test(said) && PLAN.test(said));
  return isMissing && !TEMPORARY.test(said) ? onlyFeatures(refusedBy({ ...error, status: null })) : null;
}

const unsaid = (holds: boolean, isCertain: boolean): Refused | null => (holds ? { what: 'unsaid', isCertain } : null);

/** Refusals that look like a missing model. A thinking level counts only if the word is not part of the missing model's name. */
const withMissingModel = (refused: Refused | null, words: string): Refused | null =>
  refused?.what === 'thinking' && /unsupported|not support|unrecogni[sz]ed/.test(words)
    ? refused
    : onlyFeatures(refused);

const onlyFeatures = (refused: Refused | null): Refused | null => (refused?.what === 'features' ? refused : null);

/** Errors of the key itself. */
const KEY_ERROR =
  /\b(?:invalid|incorrect|wrong|expired|missing|revoked|unknown|malformed|disabled|no) (?:api |auth |access |security |subscription )?(?:key|token|credentials?)\b|\b(?:key|token|credentials?) (?:is |was |has been )?(?:not valid|not found|invalid|incorrect|expired|disabled|revoked|missing|provided|included)|authenti|signature|sign.?in|log.?in/;

/** True if the request itself may be the cause, whatever the message. */
const isAboutRequest = ({ status, kinds }: VendorError, words: string): boolean =>
  !(
    WRONG_ADDRESS.has(status ?? 0) ||
    (status === 404 && kinds.includes(WEB_PAGE)) ||
    /location|region|residency|system memory/.test(words)
  );

const WRONG_ADDRESS: ReadonlySet<number> = new Set([401, 405, 407]);

/** Firewalls inspect the content and respond with a web page of their own. */
export const isByAFirewall = ({ status, kinds, message }: Pick<VendorError, 'status' | 'kinds' | 'message'>): boolean =>
  status === 403 && (kinds.includes(WEB_PAGE) || FIREWALLS.test(message));

const FIREWALLS =
  /\bfirewall|\bwaf\b|attention required|security (?:service|solution|rule)|support id\b|ray id\b|incident id\b/i;

/** True if the message only repeats the status. */
export const hasNoReason = (message: string): boolean =>
  /^(?:(?:403|http|error|access|request|permission|denied|forbidden)[\s:.]*)*$/i.test(message);

/** True if the server is busy. */
const isBusy = ({ status }: VendorError, words: string): boolean =>
  BUSY.has(status ?? 0) || /overloaded|capacity|loading|system memory|upstream/.test(words);

const BUSY: ReadonlySet<number> = new Set([503, 504, 522, 524, 529]);
