import { isMessage } from '../chat/entry.js';
import { type Message, textOf } from '../chat/message.js';
import { asTokens, estimateTokens, type Tokens } from '../chat/request.js';
import { HiError } from '../errors.js';
import type { HistoryStore } from '../history/store.js';
import type { Finder } from '../recall/recall.js';
import { pinnable, pinnedIn } from '../view/block-state.js';
import { charactersOf, effectiveWindow, type LimitSettings, totalCharacters } from '../view/size.js';
import { newestBlock } from '../view/view.js';

/** A message by its place among the newest, from 1, or by its id. */
export type Which = { readonly place: number } | { readonly id: number };

/** The share of the window that all pins together may take. */
const SHARE = 0.25;

/**
 * The messages that the user keeps in view through compactions. Methods throw `HiError`s of code `usage` for messages
 * that do not exist.
 */
export class PinnedMessages {
  readonly #history: HistoryStore;
  readonly #finder: () => Promise<Finder>;
  readonly #limits: () => LimitSettings;

  constructor(history: HistoryStore, finder: () => Promise<Finder>, limits: () => LimitSettings) {
    this.#history = history;
    this.#finder = finder;
    this.#limits = limits;
  }

  /** The pinned messages, oldest first. */
  list(): readonly Message[] {
    const { entries } = this.#history;
    return [...pinnedIn(entries, newestBlock(entries), null).values()].sort((one, other) => one.id - other.id);
  }

  /** How many tokens they take together. */
  get tokens(): Tokens {
    return estimateTokens(totalCharacters(this.list()));
  }

  /** How many tokens they may take. */
  get room(): Tokens {
    return asTokens(Math.floor(SHARE * effectiveWindow(this.#limits())));
  }

  /** Pins a message. Resolves to it; `isNew` is false if it was already pinned. */
  async pin(which: Which): Promise<{ readonly message: Message; readonly isNew: boolean }> {
    await this.#history.refresh();
    const { edition } = this.#history;
    const message = pinnable(await this.#find(which));
    if (message.role === 'tool')
      throw new HiError('usage', `#${message.id} is tool output.`, {
        hint: 'Pin the answer that reports it.',
      });
    if (message.content.length === 0) throw new HiError('usage', `#${message.id} has no text to pin.`);
    if (this.list().some(({ id }) => id === message.id)) return { message, isNew: false };
    this.#requireRoom(message);
    const isMarked = await this.#history.mark({ type: 'pin', message }, edition);
    return isMarked ? { message, isNew: true } : await this.pin(which);
  }

  /** Unpins a message, by its place in the list or its id. */
  async unpin(which: Which): Promise<Message> {
    await this.#history.refresh();
    const pinned = this.list();
    const message = 'id' in which ? pinned.find(({ id }) => id === which.id) : pinned[which.place - 1];
    if (message === undefined) {
      const hint = pinned.length === 0 ? 'Nothing is pinned.' : '/pins lists what is pinned.';
      throw new HiError('usage', `'${'id' in which ? `#${which.id}` : which.place}' is not pinned.`, { hint });
    }
    await this.#history.mark({ type: 'unpin', messages: [message.id] });
    return message;
  }

  async #find(which: Which): Promise<Message> {
    const sent = this.#history.view(null).messages;
    if ('place' in which) {
      const said = sent.filter((message) => message.role !== 'tool' && textOf(message.content) !== '');
      const found = said.at(-which.place);
      if (found !== undefined) return this.#whole(found);
      throw new HiError('usage', `There is no message ${which.place}: ${said.length} in view.`, {
        hint: 'Pin an older one by its id, such as /pin #1. To find it: /find TEXT',
      });
    }
    const near = sent.find(({ id }) => id === which.id);
    if (near !== undefined) return this.#whole(near);
    const found = await (await this.#finder()).around(which.id, 0, 0);
    const message = found.map((one) => one.message).find(({ id }) => id === which.id);
    if (message !== undefined) return message;
    throw new HiError('usage', `There is no message '#${which.id}'.`, { hint: 'Find one with: /find TEXT' });
  }

  /** As it was said: what is in view may be shortened. */
  #whole(shown: Message): Message {
    return this.#history.entries.filter(isMessage).find(({ id }) => id === shown.id) ?? shown;
  }

  #requireRoom(message: Message): void {
    const size = estimateTokens(charactersOf(message));
    const all = size + this.tokens;
    if (all <= this.room) return;
    const taken = this.tokens === 0 ? '' : `, and ${this.tokens} are pinned already`;
    throw new HiError(
      'usage',
      `#${message.id} has ${size} tokens${taken}; pins may take ${this.room}, a quarter of the window.`,
      {
        hint:
          this.tokens === 0
            ? 'Write what matters in a shorter message, and pin that.'
            : 'Make room with /unpin; /pins lists what is pinned.',
      },
    );
  }
}
