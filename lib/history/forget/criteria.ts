import type { CompressBlock } from '../../chat/entry.js';
import { citedIn } from '../../chat/marked-text.js';
import type { Message } from '../../chat/message.js';
import { type ForgetOrder, occurrenceOf } from '../../chat/occurrence.js';

/** Decides which entries of a log to forget. */
export interface Criteria {
  /** `said` is the result of `saidIn`. */
  isMeant(message: Message, said: string): boolean;
  isUnknownMeant(at: string, said: string): boolean;
  /** Whether a summary is based on matching messages that no longer exist: it names them, or it `isAlone` and was written since then. */
  isSummaryMeant(block: CompressBlock, isAlone: boolean): boolean;
  /** Whether the content contains the text to forget. */
  readonly holds: (content: string) => boolean;
}

/** The criteria for the conversation. `attachments` are the hashes of those that contain the text. */
export function criteriaOf(order: ForgetOrder, attachments: ReadonlySet<string>): Criteria {
  if (order.kind === 'since') {
    const isLater = (at: string): boolean => Date.parse(at) >= order.from.getTime();
    const isSummaryMeant = ({ at }: CompressBlock, isAlone: boolean): boolean => isAlone && isLater(at);
    return { isMeant: ({ at }) => isLater(at), isUnknownMeant: isLater, isSummaryMeant, holds: () => false };
  }
  if (order.kind === 'messages') {
    const ids = new Set(order.ids);
    const isSummaryMeant = ({ content }: CompressBlock): boolean => citedIn(content).some((id) => ids.has(id));
    return { isMeant: ({ id }) => ids.has(id), isUnknownMeant: () => false, isSummaryMeant, holds: () => false };
  }
  const holds = occurrenceOf(order.text);
  const refers = ({ content }: Message): boolean =>
    content.some((part) => (part.type === 'image' || part.type === 'document') && attachments.has(part.sha256));
  return {
    isMeant: (message, said) => holds(said) || refers(message),
    isUnknownMeant: (_at, said) => holds(said) || [...attachments].some((hash) => said.includes(hash)),
    isSummaryMeant: () => false,
    holds,
  };
}

/** The criteria for a copy, in which the ids may belong to different messages. */
export function criteriaForCopy(
  order: ForgetOrder,
  attachments: ReadonlySet<string>,
  messages: readonly Message[],
): Criteria {
  if (order.kind !== 'messages') return criteriaOf(order, attachments);
  const known = new Set(messages.map(signature));
  const isMeant = (message: Message): boolean => known.has(signature(message));
  return { isMeant, isUnknownMeant: () => false, isSummaryMeant: () => false, holds: () => false };
}

const signature = ({ at, role, content }: Message): string => JSON.stringify([at, role, content]);
