import { THINKING_LEVELS, type ThinkingLevel } from '../../../chat/model/thinking-level.js';
import type { ErrorCode } from '../../../errors.js';
import type { Refused } from '../provider.js';
import { outputLimitIn } from './output-limit.js';
import { isOfBytes, saysOverflow } from './overflow.js';
import { DENIAL, PARAMS, SENTENCES } from './refusal-sentences.js';
import { type VendorError, WEB_PAGE } from './vendor-error.js';

/** What the server does not take; null where its words do not tell. */
export function refusedBy({ status, kinds, message, param }: VendorError): Refused | null {
  if (status !== null && (status < 400 || NO_REFUSALS.has(status))) return null;
  const said = `${kinds.join(' ')} ${message}`.toLowerCase();
  if (saysOverflow(said)) return null;
  const words = param === null ? said : `${param.toLowerCase()} ${said}`;
  const most = outputLimitIn(words);
  if (most !== null) return { what: 'output', most };
  const isThinking = /effort|reasoning|thinking/.test(words);
  const named = PARAMS.find(([pattern]) => param !== null && pattern.test(param));
  if (named && !isThinking) return named[1];
  const denied = DENIAL.test(said);
  const about = words.replace(TAKEN_INSTEAD, '');
  const found = SENTENCES.find(
    ({ alone, also, words: own }) => (alone || denied) && own.test(about) && (also?.test(about) ?? true),
  )?.refused;
  if (found?.what === 'thinking') return { ...found, levels: unsupportedLevels(said) ?? found.levels };
  return found ?? null;
}

/** What is named as taken, of which the sentence is not about. */
const TAKEN_INSTEAD = /supported values are:? [^.]*/;

/** The levels that a list of the supported ones leaves out; null when there is no list. */
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

/** These say something of the key, the account or the moment, and nothing of what was sent. */
const NO_REFUSALS: ReadonlySet<number> = new Set([401, 402, 407, 408, 429, 502, 503, 504]);

/** What of the request an error of this kind is about; null when it is about none of it. */
export function refusalOf(code: ErrorCode, error: VendorError): Refused | null {
  const words = `${error.kinds.join(' ')} ${error.message}`.toLowerCase();
  switch (code) {
    case 'request':
      return refusedBy(error) ?? unsaid(isOfTheRequest(error, words), !isByAFirewall(error));
    case 'overload':
      return refusedBy(error) ?? notOffered(error) ?? unsaid(!isOfTheMoment(error, words), false);
    case 'malformed':
      return unsaid(/tool_use_failed/.test(words), false);
    case 'model':
      // What a gateway has not got for a feature it calls a missing model.
      return ofAModel(refusedBy(error), words);
    case 'key':
      // The key may be good, and not for images.
      if (!OF_THE_KEY.test(words)) {
        const refused = onlyFeatures(refusedBy({ ...error, status: null }));
        if (refused !== null) return refused;
      }
      return unsaid(error.status === 403 && saysNothing(error.message), false);
    case 'window':
      // Too many bytes, not too many tokens.
      return isOfBytes(error) ? { what: 'files' } : null;
    case 'quota':
    case 'rate':
      return notOffered(error);
    default:
      return null;
  }
}

/** What a plan or a deployment has not got, which no waiting brings. */
const NOT_HAD =
  /\b(?:not|n['’]t) (?:be )?(?:yet )?(?:support|accept|allow|available|enabled|permitted|included|offered)|unsupported/;
const FOR_OTHERS = /\b(?:requires?|needs?|only (?:available|included|supported)) /;
const PLAN = /\b(?:paid|higher|plan|tier|subscription|upgrade)/;

const OF_THE_PACE =
  /\blimits?\b|quota|exceed|too many|per[ -](?:second|minute|min|hour|day|month)|try again|later\b|balance|credits?\b|budget|current|moment|temporar|busy|\bload|capacity/;

/** The features that are not to be had, whatever the status says of the account or the moment. */
function notOffered(error: VendorError): Refused | null {
  const said = error.message.toLowerCase();
  const isMissing = NOT_HAD.test(said) || (FOR_OTHERS.test(said) && PLAN.test(said));
  return isMissing && !OF_THE_PACE.test(said) ? onlyFeatures(refusedBy({ ...error, status: null })) : null;
}

const unsaid = (holds: boolean, isCertain: boolean): Refused | null => (holds ? { what: 'unsaid', isCertain } : null);

/** Of a level too, where the words are not of a model that is not there and has its name from thinking. */
const ofAModel = (refused: Refused | null, words: string): Refused | null =>
  refused?.what === 'thinking' && /unsupported|not support|unrecogni[sz]ed/.test(words)
    ? refused
    : onlyFeatures(refused);

const onlyFeatures = (refused: Refused | null): Refused | null => (refused?.what === 'features' ? refused : null);

/** What is wrong with the key itself. */
const OF_THE_KEY =
  /\b(?:invalid|incorrect|wrong|expired|missing|revoked|unknown|malformed|disabled|no) (?:api |auth |access |security |subscription )?(?:key|token|credentials?)\b|\b(?:key|token|credentials?) (?:is |was |has been )?(?:not valid|not found|invalid|incorrect|expired|disabled|revoked|missing|provided|included)|authenti|signature|sign.?in|log.?in/;

/** Whether it is refused for what it holds, whatever the words. */
const isOfTheRequest = ({ status, kinds }: VendorError, words: string): boolean =>
  !(
    OF_THE_PLACE.has(status ?? 0) ||
    (status === 404 && kinds.includes(WEB_PAGE)) ||
    /location|region|system memory/.test(words)
  );

const OF_THE_PLACE: ReadonlySet<number> = new Set([401, 405, 407]);

/** Firewalls look into what is said, and answer with a page of their own. */
const isByAFirewall = ({ status, kinds }: VendorError): boolean => status === 403 && kinds.includes(WEB_PAGE);

/** Whether the words tell nothing beside the status. */
export const saysNothing = (message: string): boolean =>
  /^(?:(?:403|http|error|access|request|permission|denied|forbidden)[\s:.]*)*$/i.test(message);

/** Whether the server is busy, whatever it is asked. */
const isOfTheMoment = ({ status }: VendorError, words: string): boolean =>
  BUSY.has(status ?? 0) || /overloaded|capacity|loading|system memory|upstream/.test(words);

const BUSY: ReadonlySet<number> = new Set([503, 504, 522, 524, 529]);
