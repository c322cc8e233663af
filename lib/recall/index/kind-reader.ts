import { bringsForeign, hasForeignParts } from '../../chat/foreign-words.js';
import type { Message } from '../../chat/message.js';
import { documentKind } from './documents.js';
import type { Kind } from './part.js';

/**
 * Tells whose words messages have, one after the other. What came before the first is not known: a turn that began there counts as one with foreign content,
 * so that nobody's words ever pass for those of the user and the model.
 */
export class KindReader {
  /** The turns that had nothing but the words of the user and the model so far. */
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
