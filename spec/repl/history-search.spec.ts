import { describe, expect, it } from '@jest/globals';
import { HistorySearch } from '../../lib/repl/input-history.js';

/** What Ctrl-R finds among these inputs, oldest first, after these words were typed. */
function found(inputs: readonly string[], typed: string): string | null {
  const search = new HistorySearch(inputs);
  for (const character of typed) search.key(character, { name: character.toLowerCase() });
  return search.match();
}

describe('a search with Ctrl-R', () => {
  it('matches both cases with lower-case letters', () => {
    expect(found(['Ask Ada', 'say hello'], 'ada')).toBe('Ask Ada');
    expect(found(['ÄPFEL kaufen', 'say hello'], 'äpfel')).toBe('ÄPFEL kaufen');
  });

  it('matches case with an upper-case letter', () => {
    const inputs = ['Ask Ada', 'ask adam', 'ask ADA'];
    expect(found(inputs, 'Ada')).toBe('Ask Ada');
    expect(found(inputs, 'ADA')).toBe('ask ADA');
    expect(found(inputs, 'Adam')).toBeNull();
  });
});
