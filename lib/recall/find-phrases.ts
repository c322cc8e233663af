import { setImmediate as breath } from 'node:timers/promises';
import { isMessage } from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import type { Archive } from './index/archive.js';
import { documentKind, searchedText } from './index/documents.js';
import type { Kind } from './index/part.js';
import type { Query } from './rank/query.js';
import { hasPhrases } from './rank/second-look.js';
import { type Finds, type Hit, isWithin, type Search } from './search.js';
import type { Library } from './searched-index.js';

/** What may stand between two words of a text in JSON, white space of any length and escapes. */
const BETWEEN = String.raw`(?:\\u[\da-f]{4}|\\[a-z]|[^a-z\d])*`;

/**
 * Looks for a text that no words lead to, such as punctuation or half a word, or that is in none of the best documents: through everything, the newest first.
 * Only pieces are read in which it may be, as far as their bytes tell.
 */
export async function findPhrases(
  archive: Archive,
  library: Library,
  query: Query,
  search: Search,
  kinds: readonly Kind[] | null,
  signal?: AbortSignal,
): Promise<Finds> {
  const hits: Hit[] = [];
  const look = (messages: readonly Message[]): void => {
    for (let index = messages.length - 1; index >= 0; index -= 1) {
      const message = messages[index];
      if (message === undefined || library.isUndone(message) || !isWithin(message, search)) continue;
      const [kind, text] = [documentKind(message), searchedText(message)];
      if (kinds?.includes(kind) === false || !hasPhrases(query, text)) continue;
      const before = library.said(messages[index - 1] ?? null);
      const after = library.said(messages[index + 1] ?? null);
      hits.push(hitOf(library, message, text, before, after));
    }
  };
  const patterns = query.phrases.flatMap(patternsOf);
  look(archive.rest().filter(isMessage));
  for (const piece of archive.pieces.toReversed()) {
    if (hits.length >= search.count) break;
    signal?.throwIfAborted();
    await breath();
    if (!archive.holds(piece, patterns)) continue;
    look(archive.read(piece).flatMap(({ entry }) => (isMessage(entry) ? [entry] : [])));
  }
  return { hits: hits.slice(0, search.count), more: Math.max(0, hits.length - search.count), isWhole: true };
}

function hitOf(library: Library, message: Message, text: string, before: Hit['before'], after: Hit['after']): Hit {
  const kind = documentKind(message);
  return { ...library.said(message), kind, text, before, after, certainty: 0, newer: null };
}

/** Found in the JSON of each text that has the phrase, in any case: plain letters and digits and Chinese characters stand there as they are. */
function patternsOf(phrase: string): readonly RegExp[] {
  const text = phrase.normalize('NFC');
  const plain = text.split(/[^\0-\x7f]+/).map((run) => run.match(/[a-z\d]+/gi) ?? []);
  const han = text.match(/[\u4e00-\u9fff]+/g) ?? [];
  return [
    ...plain.filter(({ length }) => length > 0).map((found) => new RegExp(found.join(BETWEEN), 'i')),
    ...han.map((run) => new RegExp(Buffer.from(run).toString('latin1'))),
  ];
}
