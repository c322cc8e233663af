import type { Key } from 'node:readline';

/** Looking for an earlier input, newest first, as Ctrl-R does in a shell. */
export interface Search {
  /** What stands in place of the prompt. */
  prompt(): string;
  /** The input that is found, null while none is. */
  match(): string | null;
  /** `again`: the search goes on. `take`: edit what was found. `send`: enter it. `drop`: back to the line as it was. */
  key(text: string, key: Key): 'again' | 'take' | 'send' | 'drop';
}

/** A search through these inputs, oldest first, that has not found anything yet. */
export function createSearch(entries: readonly string[]): Search {
  let query = '';
  let found = entries.length;

  /** The nearest entry in that direction that contains the query; stays where it is when there is none. */
  function look(from: number, step: 1 | -1): void {
    for (let index = from; index >= 0 && index < entries.length; index += step) {
      if (!includes(entries[index], query)) continue;
      found = index;
      return;
    }
  }

  /** Looks on from where the search stands, and when nothing older fits, from the newest. */
  function extend(next: string): void {
    query = next;
    const from = Math.min(found, entries.length - 1);
    found = entries.length;
    look(from, -1);
    if (found === entries.length) look(entries.length - 1, -1);
  }

  const match = (): string | null =>
    query === '' || !includes(entries[found], query) ? null : (entries[found] ?? null);

  return {
    prompt: () => (query !== '' && match() === null ? `(nothing found) ${query}: ` : `(search) ${query}: `),
    match,
    key(text, key) {
      const name = `${key.ctrl ? 'C-' : ''}${key.name ?? ''}`;
      if (name === 'C-r') look(found - 1, -1);
      else if (name === 'C-s') look(found + 1, 1);
      else if (name === 'backspace' || name === 'C-h') extend(query.slice(0, -1));
      else if (name === 'return') return match() === null ? 'drop' : 'send';
      else if (name === 'C-c' || name === 'C-g' || name === 'escape') return 'drop';
      else if (text >= ' ' && text !== '\x7f' && !key.ctrl && !key.meta) extend(query + text);
      else return match() === null ? 'drop' : 'take';
      return 'again';
    },
  };
}

/** Capital letters in the query are meant, small ones stand for both. */
function includes(entry: string | undefined, query: string): boolean {
  if (entry === undefined) return false;
  return /\p{Lu}/u.test(query) ? entry.includes(query) : entry.toLowerCase().includes(query);
}
