import { bringsForeign, hasForeignParts } from '../../chat/entry.js';
import type { Message } from '../../chat/message.js';
import { documentKind } from './documents.js';
import type { Kind } from './part.js';

/**
 * Determines the kinds of consecutive messages. The messages before the first are unknown, so a turn that began there counts as one with foreign content:
 * other people's words must never pass for those of the user and the model.
 */
export class KindReader {
  /** The turns that so far contain only words of the user and the model. */
  readonly #own = new Set<number>();
  #isAfterNote: boolean | null = null;

  kindOf(message: Message): Kind {
    const { id, turn } = message;
    const kind = documentKind(message);
    const isAfterNote = this.#isAfterNote ?? id !== 1;
    this.#isAfterNote = kind === 'note';
    const isOwn = !bringsForeign(message) && (id === turn ? !isAfterNote : this.#own.has(turn));
    if (isOwn) this.#own.add(turn);
    else this.#own.delete(turn);
    if (kind === 'user') return hasForeignParts(message) ? 'attached' : 'user';
    return kind === 'model' && !isOwn ? 'foreign' : kind;
  }
}
