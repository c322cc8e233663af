import { describe, expect, it } from '@jest/globals';
import { loadedFrom } from '../../lib/view/view.js';
import { Log } from '../support/log.js';

function conversation(turns: number, length = 10): Log {
  const log = new Log();
  for (let turn = 0; turn < turns; turn += 1) {
    log.user('q'.repeat(length));
    log.answer('a'.repeat(length));
  }
  return log;
}

describe('the loaded part of a log without a block', () => {
  it('is all of it up to the limit', () => {
    const { entries } = conversation(5);
    expect(loadedFrom([])).toBeNull();
    expect(loadedFrom(entries)).toBe(entries[0]?.id);
    expect(loadedFrom(entries, { messages: 10, characters: 100 })).toBe(entries[0]?.id);
  });

  it('begins with the first whole turn within both limits', () => {
    const { entries } = conversation(5);
    expect(loadedFrom(entries, { messages: 5, characters: 1000 })).toBe(entries[6]?.id);
    expect(loadedFrom(entries, { messages: 1000, characters: 40 })).toBe(entries[6]?.id);
  });

  it('is never empty, even if one message or one turn exceeds the limit', () => {
    const { entries } = conversation(2);
    expect(loadedFrom(entries, { messages: 10, characters: 5 })).toBe(entries[3]?.id);
    expect(loadedFrom(entries, { messages: 1, characters: 100 })).toBe(entries[3]?.id);
  });
});
