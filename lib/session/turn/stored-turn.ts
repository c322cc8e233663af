import { isForeignBlock } from '../../chat/entry.js';
import type { Message, NewMessage } from '../../chat/message.js';
import type { HistoryStore } from '../../history/store.js';
import { newestBlock } from '../../view/view.js';
import { uninterrupted } from '../../waits.js';
import type { Context } from '../context/context.js';

/** A turn whose question is in the history: writes the answer behind it. */
export class StoredTurn {
  readonly #history: HistoryStore;
  readonly turn: number;
  readonly #followsOutput: boolean;
  /** What the server that is asked now is sent. */
  context: Context;
  /** The edition in which the turn was last seen to be there. */
  #edition: number;

  /** `followsOutput`: whether the question follows the output of a command. */
  constructor(history: HistoryStore, turn: number, followsOutput: boolean, context: Context) {
    this.#history = history;
    this.turn = turn;
    this.#followsOutput = followsOutput;
    this.context = context;
    this.#edition = history.edition;
  }

  async append(messages: readonly NewMessage[], onlyCurrent = false): Promise<readonly Message[]> {
    for (const { usage } of messages) if (usage !== undefined) this.context.learnRatio(usage);
    const all = messages.map((message) => this.#stamped(message));
    const written = await uninterrupted(() => this.#history.append(this.turn, all, this.#edition, onlyCurrent));
    this.#edition = this.#history.edition;
    return written;
  }

  /** Marks an answer if the summary in view rests on foreign text, or the question follows output of a command. */
  #stamped(message: NewMessage): NewMessage {
    const isForeign = this.#followsOutput || isForeignBlock(newestBlock(this.#history.entries));
    return message.role === 'assistant' && isForeign ? { ...message, rests_on: 'foreign' } : message;
  }
}
