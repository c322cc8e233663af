import type { ChatEvent } from '../../chat/event.js';
import { localMinute, quantity } from '../../chat/text.js';

/** What came from the other machines of a conversation, and what the user should know about them. */
export interface FromMachines {
  readonly arrivals: readonly { readonly machine: string; readonly turns: number; readonly last: string }[];
  readonly notices: readonly string[];
}

/** The other machines of a conversation. Nothing fails because of them. */
export interface OtherMachines {
  /** Takes in what they have said. */
  takeIn(): Promise<FromMachines>;
  /** Gives them what was said here. */
  giveOut(): Promise<FromMachines>;
  /** Keeps what they have from the conversation after a reset. */
  beforeReset(): Promise<FromMachines>;
  /**
   * Resets here and, when hi next runs there, on them. Resolves to the number of messages that were here. Throws a
   * `HiError`, mostly before anything was reset.
   */
  resetEverywhere(purge: boolean): Promise<number>;
  /** After a reset was undone. */
  afterUndo(): Promise<void>;
}

/** What a reset here means for the other machines, and what one of all machines means. */
export const KEPT_ELSEWHERE = 'The other machines keep theirs, and nothing of it comes back here.';
export const CLEARED_ELSEWHERE =
  'The other machines do the same when hi next runs there, and keep what they said unknown to this one.';

/** What of an exchange is to be shown. */
export function* exchangeEvents({ arrivals, notices }: FromMachines, now: Date): Generator<ChatEvent> {
  if (arrivals.length > 0) yield { type: 'notice', level: 'info', text: arrivalsLine(arrivals, now) };
  for (const text of notices) yield { type: 'notice', level: 'warning', text };
}

/** `3 turns from laptop, 5 min ago`. */
function arrivalsLine(arrivals: FromMachines['arrivals'], now: Date): string {
  return arrivals
    .map(({ machine, turns, last }) => {
      const minutes = Math.floor((now.getTime() - Date.parse(last)) / 60_000);
      const ago = minutes < 1 ? 'just now' : minutes < 60 ? `${minutes} min ago` : localMinute(last, now);
      return `${quantity(turns, 'turn')} from ${machine}, ${ago}`;
    })
    .join(' · ');
}
