import type { Kind } from '../index/part.js';

/** The factor for the words of the speaker that the question is about. */
const FAVOUR = 1.6;

const MODEL =
  /\b(?:did|have|had|were|was) you\b|\byou (?:recommend|suggest|said|told|gave|mention|explain|advis|propos|list|provid|walk|help|show|wrote|write)|\b(?:hast|hattest) du\b|\bdu (?:gesagt|empfohlen|vorgeschlagen)|\b(?:as-tu|avez-vous|tu as|vous avez)\b|\b(?:dijiste|recomendaste|sugeriste)\b|你(?:说|推荐|建议|提到)|あなた/iu;

const USER =
  /\b(?:did|have|had|do|am|was|were) I\b|\bmy\b|\bI (?:said|told|asked|mention|want|use|plan|like|prefer)|\b(?:habe|hatte) ich\b|\bmeine?[mnrs]?\b|\b(?:ai-je|j'ai|mon|mes)\b|\b(?:dije|mi|mis)\b|我|私|僕/iu;

/** The speaker that a question is about: the model for `what did you recommend`, the user for `did I say` and `my`. */
export function whoIsAsked(text: string): Readonly<Partial<Record<Kind, number>>> {
  if (MODEL.test(text)) return { model: FAVOUR, foreign: FAVOUR };
  return USER.test(text) ? { user: FAVOUR, attached: FAVOUR } : {};
}
