import { describe, expect, it } from '@jest/globals';
import { bufferOf } from '../../lib/repl/editing/edit-buffer.js';
import { typedAheadRows } from '../../lib/repl/typed-ahead.js';

const SPACE = { columns: 20, rows: 24, colour: false };
const NOTHING = bufferOf('');

describe('the rows of type-ahead', () => {
  it('are empty before something is typed', () => {
    expect(typedAheadRows([], NOTHING, SPACE)).toEqual([]);
  });

  it('show the queued lines above the current one, each cut to a row', () => {
    const queued = [bufferOf('short'), bufferOf('one\ntwo and more than that')];
    expect(typedAheadRows(queued, bufferOf('typed'), SPACE)).toEqual([
      'queued: short',
      'queued: one ↵ two a…',
      '› typed ',
    ]);
  });

  it('count the queued lines that do not fit', () => {
    const queued = ['a', 'b', 'c', 'd', 'e'].map(bufferOf);
    expect(typedAheadRows(queued, NOTHING, SPACE)).toEqual(['queued: a', 'queued: b', 'queued: 3 more']);
    expect(typedAheadRows(queued, NOTHING, { ...SPACE, rows: 6 })).toEqual(['queued: 5 more']);
  });

  it('show the text around the cursor, never more than a row', () => {
    const text = '0123456789abcdefghijklmnopqrstuvwxyz';
    expect(typedAheadRows([], bufferOf(text), SPACE)).toEqual(['› klmnopqrstuvwxyz ']);
    expect(typedAheadRows([], { ...bufferOf(text), cursor: 3 }, SPACE)).toEqual(['› 0123456789abcde…']);
    expect(typedAheadRows([], bufferOf('日本語日本語日本語日本語'), SPACE)).toEqual(['› 本語日本語日本語 ']);
  });

  it('reverse the character under the cursor', () => {
    const rows = typedAheadRows([], { ...bufferOf('ab'), cursor: 1 }, { ...SPACE, colour: true });
    expect(rows).toEqual(['\x1b[0;2m›\x1b[0m a\x1b[0;7mb\x1b[0m']);
  });
});
