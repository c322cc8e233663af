import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../lib/chat/json.js';
import { renumber } from '../../../lib/history/repair/join-logs.js';
import {
  beginsTurn,
  completeElement,
  idOf,
  isCertainlyElement,
  isComplete,
  isElement,
  isWrittenByHi,
  numberedElement,
  timeOf,
  turnOf,
} from '../../../lib/history/repair/other-formats.js';

const AT = '2026-01-01T00:00:00Z';
const OTHERS = { id: 9, turn: 8, at: AT };

describe('an element of another program', () => {
  it.each([
    [7, 7],
    ['7', 7],
    ['07', 7],
    [0, null],
    [-1, null],
    [1.5, null],
    ['1.5', null],
    ['x7', null],
    ['7x', null],
    ['', null],
    [2 ** 53, null],
    [null, null],
    [true, null],
    [[7], null],
  ])('with %j as its id or turn has %j', (value, expected) => {
    expect([idOf({ id: value }), turnOf({ turn: value })]).toEqual([expected, expected]);
    expect([idOf({}), turnOf({})]).toEqual([null, null]);
  });

  it.each([
    [AT, AT],
    ['whenever', 'whenever'],
    [1_767_225_600, '2026-01-01T00:00:00.000Z'],
    [1_767_225_600_000, '2026-01-01T00:00:00.000Z'],
    [1e11 - 1, '5138-11-16T09:46:39.000Z'],
    [1e11, '1973-03-03T09:46:40.000Z'],
    [0, '1970-01-01T00:00:00.000Z'],
    [1e300, null],
    [null, null],
    [[1], null],
  ])('whose time is %j was written %j', (at, expected) => {
    expect(timeOf({ at })).toBe(expected);
  });

  it('begins a turn if a user speaks, whatever a program calls users', () => {
    const roles = ['user', 'human', 'assistant', 'ai', 'model', 'tool', 'function', 'crowd', 'toString', 7];
    expect(roles.filter((role) => beginsTurn({ role: role as string }))).toEqual(['user', 'human']);
  });

  it('is recognised by its fields', () => {
    const kinds = (value: JsonObject): string =>
      [
        isElement(value) && 'maybe',
        isCertainlyElement(value) && 'certainly',
        isWrittenByHi(value) && 'by hi',
        isComplete(value) && 'complete',
      ]
        .filter(Boolean)
        .join(' ');
    const rows: readonly (readonly [JsonObject, string])[] = [
      [{ id: 1, turn: 1, at: AT, role: 'user', content: [] }, 'maybe certainly by hi complete'],
      [{ id: 1, at: AT, type: 'poll' }, 'maybe certainly by hi complete'],
      [{ id: 1, at: AT, type: 5 }, 'maybe certainly complete'],
      [{ id: 1, at: 5, type: 'poll' }, 'maybe certainly complete'],
      [{ id: '1', at: AT, type: 'poll' }, 'maybe certainly'],
      [{ id: 0, at: AT, type: 'poll' }, 'maybe'],
      [{ id: 1, turn: 1, at: AT, role: 'user', content: 'a' }, 'maybe certainly complete'],
      [{ id: 1, turn: '1', at: AT, role: 'user', content: [] }, 'maybe certainly'],
      [{ id: 1, turn: 1, at: AT, content: [] }, 'maybe certainly complete'],
      [{ id: 1, turn: 1 }, 'maybe complete'],
      [{ id: 1, at: AT }, 'maybe certainly'],
      [{ id: 1, type: 'text' }, 'maybe certainly complete'],
      [{ role: 'user', content: '' }, 'maybe certainly'],
      [{ role: 'user' }, 'maybe'],
      [{ role: 'crowd', content: '' }, 'maybe'],
      [{ type: 'text', text: 'a' }, 'maybe'],
      [{ text: 'a' }, ''],
      [{ role: 5, content: '' }, ''],
      [{ id: 1 }, 'maybe'],
    ];
    expect(rows.map(([value]) => [value, kinds(value)])).toEqual(rows);
  });

  it('gets the missing fields, and keeps all others', () => {
    const rows: readonly (readonly [JsonObject, JsonObject])[] = [
      [
        { role: 'human', content: 'a', x: 1 },
        { id: 9, turn: 8, at: AT, role: 'user', content: [{ type: 'text', text: 'a' }], x: 1 },
      ],
      [
        { id: '3', turn: '2', at: 0, role: 'tool', content: [] },
        { id: 3, turn: 2, at: '1970-01-01T00:00:00.000Z', role: 'tool', content: [] },
      ],
      [{ role: 'ai' }, { ...OTHERS, role: 'assistant', content: [], stop_reason: 'end' }],
      [
        { role: 'model', content: null, stop_reason: 'length' },
        { ...OTHERS, role: 'assistant', content: [], stop_reason: 'length' },
      ],
      [
        { role: 'crowd', content: 'a' },
        { ...OTHERS, role: 'crowd', content: [{ type: 'text', text: 'a' }] },
      ],
      [
        { role: 'assistant', content: [{ type: 'tool_call', name: 'a' }] },
        { ...OTHERS, role: 'assistant', content: [{ type: 'tool_call', name: 'a' }] },
      ],
      [
        { role: 'user', content: ['a', { text: 'b', x: 1 }, { type: 'image' }, { type: 'y', text: 'c' }, 7, {}] },
        {
          ...OTHERS,
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b', x: 1 },
            { type: 'image' },
            { type: 'y', text: 'c' },
            7,
            {},
          ],
        },
      ],
      [
        { role: 'user', content: { text: 'b' } },
        { ...OTHERS, role: 'user', content: [{ type: 'text', text: 'b' }] },
      ],
      [
        { type: 'poll', turn: 3, x: 1 },
        { id: 9, at: AT, type: 'poll', x: 1 },
      ],
      [
        { role: 5, content: 'a' },
        { id: 9, at: AT, role: 5, content: 'a' },
      ],
    ];
    expect(rows.map(([value]) => completeElement(value, OTHERS))).toEqual(rows.map(([, expected]) => expected));
    const complete = { id: 1, turn: 1, role: 'user' };
    expect(numberedElement(complete)).toBe(complete);
    expect(numberedElement({ turn: '07', x: 1 })).toEqual({ turn: 7, x: 1 });
    expect(numberedElement({ turn: 'x' })).toEqual({ turn: 'x' });
  });
});

describe('an element with a new id', () => {
  const tens = (old: number): number => old * 10;
  it('refers to the others by their new ids, and keeps everything else', () => {
    const message = { id: 2, turn: 1, role: 'user', x: 1 };
    const rows: readonly (readonly [JsonObject, JsonObject])[] = [
      [
        { id: 3, turn: 1, x: 5 },
        { id: 7, turn: 10, x: 5 },
      ],
      [
        { id: 3, turns: [1, 2, 'x'] },
        { id: 7, turns: [10, 20, 'x'] },
      ],
      [
        { id: 3, turns: 5 },
        { id: 7, turns: 5 },
      ],
      [
        { id: 3, first_kept: null },
        { id: 7, first_kept: null },
      ],
      [
        { id: 3, first_kept: 2, restores: 1 },
        { id: 7, first_kept: 20, restores: 10 },
      ],
      [
        { id: 3, restores: 0 },
        { id: 7, restores: 0 },
      ],
      [
        { id: 3, messages: [1], message },
        { id: 7, messages: [10], message: { ...message, id: 20, turn: 10 } },
      ],
      [
        { id: 3, message: 5, pins: 5, state: 5 },
        { id: 7, message: 5, pins: 5, state: 5 },
      ],
      [
        { id: 3, pins: { until: 2, messages: [message, 5], y: 1 } },
        { id: 7, pins: { until: 20, messages: [{ ...message, id: 20, turn: 10 }, 5], y: 1 } },
      ],
      [
        { id: 3, pins: { until: 'x' } },
        { id: 7, pins: { until: 'x', messages: [] } },
      ],
      [
        { id: 3, state: { cut: { turn: 1, id: 2, z: 1 }, also: [1], open: [2], pruned: [3], size: 5 } },
        { id: 7, state: { cut: { turn: 10, id: 20, z: 1 }, also: [10], open: [20], pruned: [30], size: 5 } },
      ],
      [
        { id: 3, state: { covered: { turn: 1, id: 2 }, named: [4] } },
        { id: 7, state: { covered: { turn: 10, id: 20 }, named: [40] } },
      ],
      [
        { id: 3, state: { also: 5, facts: [1] } },
        { id: 7, state: { also: 5, facts: [1] } },
      ],
    ];
    expect(rows.map(([value]) => renumber(value, 7, { find: tens, named: tens }))).toEqual(
      rows.map(([, expected]) => expected),
    );
  });

  it('names by their new ids the messages that a summary rests on and a reminder repeats, and no others', () => {
    const named = (old: number): number | null => (old === 9 ? null : old * 10);
    const prose = 'It is PELICAN [#3, #9]. Gone [#9].';
    const state = { prose: prose.length, record: `${prose} More [#5].`, facts: [{ text: 'x', ids: [3, 9] }, 5] };
    const block = { id: 8, type: 'compress', content: `${prose}\n\n- fact: x [#3 #9]`, state };
    const after = 'It is PELICAN [#30]. Gone.';
    expect(renumber(block, 7, { find: tens, named })).toEqual({
      ...block,
      id: 7,
      content: `${after}\n\n- fact: x [#30]`,
      state: { prose: after.length, record: `${after} More [#50].`, facts: [{ text: 'x', ids: [30] }, 5] },
    });
    const text = '<recalled>\n[#3 · today, the user] see [#4 · x\n</recalled>';
    const [own, book] = [
      { type: 'text', text, recalled: [3, 9] },
      { type: 'text', text, recalled: [3], book: 'a' },
    ];
    const said = { id: 8, turn: 8, content: [{ type: 'text', text: '[#3 · mine' }, own, book, 'x'] };
    expect(renumber(said, 7, { find: tens, named })).toMatchObject({
      content: [said.content[0], { text: text.replace('[#3', '[#30'), recalled: [30] }, book, 'x'],
    });
  });
});
