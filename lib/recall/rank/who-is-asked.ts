import type { Kind } from '../index/part.js';

/** How much more the words of the one who is asked about count. */
const FAVOUR = 1.6;

const MODEL =
  /\b(?:did|have|had|were|was) you\b|\byou (?:recommend|suggest|said|told|gave|mention|explain|advis|propos|list|provid|walk|help|show|wrote|write)|\b(?:hast|hattest) du\b|\bdu (?:gesagt|empfohlen|vorgeschlagen)|\b(?:as-tu|avez-vous|tu as|vous avez)\b|\b(?:dijiste|recomendaste|sugeriste)\b|你(?:说|推荐|建议|提到)|あなた/iu;

const USER =
  /\b(?:did|have|had|do|am|was|were) I\b|\bmy\b|\bI (?:said|told|asked|mention|want|use|plan|like|prefer)|\b(?:habe|hatte) ich\b|\bmeine?[mnrs]?\b|\b(?:ai-je|j'ai|mon|mes)\b|\b(?:dije|mi|mis)\b|我|私|僕/iu;

/** Whose words a question asks about: `what did you recommend` those of the model, `did I say` and `my` those of the user. */
export function whoIsAsked(text: string): Readonly<Partial<Record<Kind, number>>> {
  if (MODEL.test(text)) return { model: FAVOUR, foreign: FAVOUR };
  return USER.test(text) ? { user: FAVOUR, attached: FAVOUR } : {};
}
