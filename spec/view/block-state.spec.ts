import { describe, expect, it } from '@jest/globals';
import type { CompressBlock } from '../../lib/chat/entry.js';
import type { JsonObject } from '../../lib/chat/json.js';
import { asTokens } from '../../lib/chat/request.js';
import { NO_ARTIFACTS, stateOf } from '../../lib/view/block-state.js';

const block = (state: JsonObject | undefined, content = 'so far'): CompressBlock => ({
  type: 'compress',
  id: 10,
  at: '2026-01-01T00:00:00.000Z',
  content,
  strategy: 'summary',
  source: 'model',
  first_kept: 8,
  messages_compacted: 6,
  messages_kept: 3,
  tokens_before: asTokens(100),
  tokens_after: asTokens(50),
  ...(state && { state }),
});

const EMPTY = {
  cut: null,
  also: [],
  open: [],
  pruned: [],
  size: null,
  ratios: {},
  facts: [],
  forgotten: 0,
  artifacts: NO_ARTIFACTS,
  language: null,
  prose: 0,
  record: null,
  covered: null,
  skipped: null,
  named: [],
};

describe('the state of a block', () => {
  it('is read as it was stored', () => {
    const state = {
      cut: { turn: 8, id: 9 },
      also: [1, 10],
      open: [3],
      pruned: [9],
      size: 40,
      ratios: { large: 1.5 },
      facts: [
        { kind: 'fact', text: 'The sky is blue.' },
        { kind: 'open', text: 'Tests.' },
      ],
      forgotten: 2,
      artifacts: { read: ['a.ts'], written: ['b.ts'], commands: 4, images: ['c.png'] },
      language: 'German',
      prose: 3,
      record: 'so far, and more',
      covered: { turn: 6, id: 7 },
      skipped: { messages: 3, from: '2026-01-01T00:00:00.000Z', until: '2026-01-02T00:00:00.000Z' },
      named: [9],
    };
    expect(stateOf(block(state))).toEqual(state);
  });

  it('is empty without a block, and all prose in a block without a state', () => {
    expect(stateOf(null)).toEqual(EMPTY);
    expect(stateOf(block(undefined, 'so far'))).toEqual({ ...EMPTY, prose: 6 });
  });

  it('does not name later messages', () => {
    const state = stateOf(block({ cut: { turn: 8, id: 11 }, also: [10, 11], open: [11], pruned: [9, 12] }));
    expect(state).toMatchObject({ cut: null, also: [10], open: [], pruned: [9] });
    expect(stateOf(block({ cut: { turn: 11, id: 9 } })).cut).toBeNull();
  });

  it('leaves out parts of another shape', () => {
    const damaged = {
      cut: { turn: 8 },
      also: 'all',
      open: [1.5, '2', null, 3],
      size: '40',
      ratios: { large: '2', small: 1.1 },
      facts: [
        null,
        'text',
        { kind: 'fact' },
        { kind: 'fact', text: 5 },
        { kind: 'rumour', text: 'x' },
        { kind: 'fact', text: 'y' },
      ],
      artifacts: { read: [1, 'a.ts'], written: null, commands: 'many', images: {} },
      language: 7,
      prose: 1000,
    };
    expect(stateOf(block(damaged))).toEqual({
      ...EMPTY,
      open: [3],
      ratios: { small: 1.1 },
      facts: [{ kind: 'fact', text: 'y' }],
      artifacts: { ...NO_ARTIFACTS, read: ['a.ts'] },
      prose: 6,
    });
    expect(stateOf(block({ cut: { id: 9 }, ratios: [1], artifacts: [] }))).toEqual({ ...EMPTY, prose: 6 });
  });
});
