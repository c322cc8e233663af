import { describe, expect, it } from '@jest/globals';
import { type Entry, originalText, storedText } from '../../../../lib/chat/entry.js';
import { decodeEntry } from '../../../../lib/history/file/decode-entry.js';
import fc from '../../../support/properties.js';

const AT = '2026-11-22T10:00:00.000Z';
const SHA = 'a'.repeat(64);
const deep = (levels: number): object => (levels === 0 ? {} : { in: deep(levels - 1) });

/** A message of the user, with these fields. */
const message = (more: object = {}) => ({ id: 7, turn: 3, at: AT, cwd: '/home', role: 'user', content: [], ...more });
const block = (more: object = {}) => ({
  ...{ id: 7, at: AT, type: 'compress', content: 'sum', strategy: 'summary', source: 'model', first_kept: 4 },
  ...{ messages_compacted: 3, messages_kept: 1, tokens_before: 20, tokens_after: 5 },
  ...more,
});

function decoded(stored: unknown): Entry | null {
  return decodeEntry(stored, () => JSON.stringify(stored));
}

/** What is shown of a message with one part. */
function partShown(part: unknown): unknown {
  const entry = decoded(message({ content: [part] }));
  return entry !== null && 'content' in entry && Array.isArray(entry.content) ? entry.content[0] : null;
}

const USAGE = { input_tokens: 1, output_tokens: 2, cached_tokens: 0, context_tokens: 3 };
const STANDING = { git: { uses: 1.5, idle: 0, hand: 'pinned' }, npm: { uses: 1, idle: 2 } };
const SKILLS = { matched: ['git'], active: ['git'], held: ['a'], pinned: ['b'], dropped: ['c'], standing: STANDING };
const CALL = { type: 'tool_call', call_id: 'c', name: 'bash' };
const RESULT = { type: 'tool_result', call_id: 'c', name: 'bash' };

/** Elements as hi writes them. */
const VALID: readonly object[] = [
  message(),
  message({ host: 'here', zone: 'UTC+1', model: 'm', provider: 'p', origin: 'o', usage: USAGE, stop_reason: 'length' }),
  message({ skills: SKILLS, sources: [{ url: 'https://a.example' }, { url: 'http://b.example', title: 'b' }] }),
  ...['end', 'tool_calls', 'length', 'refusal', 'tool_limit', 'interrupted'].map((stop_reason) =>
    message({ role: 'assistant', stop_reason }),
  ),
  message({ content: [{ type: 'text', text: 'a', opaque: { a: 1 }, recalled: [1, 2], clock: true }] }),
  message({ content: [{ type: 'thinking', text: 'a', opaque: { a: 1 } }] }),
  message({ content: [{ type: 'image', mime: 'image/png', sha256: SHA, bytes: 0, name: 'i', width: 1, height: 2 }] }),
  message({ content: [{ type: 'document', mime: 'application/pdf', sha256: SHA, bytes: 9 }] }),
  message({ role: 'assistant', content: [{ ...CALL, args: { a: [1] } }] }),
  message({ role: 'assistant', content: [{ ...CALL, args: {}, invalid_args: '{' }] }),
  ...['words', null, 0, false, { a: [] }].map((result) => message({ role: 'tool', content: [{ ...RESULT, result }] })),
  message({ role: 'tool', content: [{ ...RESULT, error: 'no' }] }),
  message({ content: [{ type: 'vendor', opaque: { block: 1 } }] }),
  block(),
  ...['model', 'cache', 'none', 'fallback'].map((source) => block({ source })),
  block({ first_kept: null, state: { facts: [] }, usage: USAGE, model: 'm', restores: 3 }),
  block({ restores: 0, pins: { until: 6, messages: [message({ id: 6 })] } }),
  { id: 7, at: AT, type: 'undo', turns: [1, 7] },
  { id: 7, at: AT, type: 'redo', turns: [] },
  { id: 7, at: AT, type: 'pin', message: message({ id: 5 }) },
  { id: 7, at: AT, type: 'unpin', messages: [1, 2] },
];

describe('an element of the history', () => {
  it.each(VALID.map((stored) => [JSON.stringify(stored), stored] as const))(
    'that hi wrote is the entry itself: %s',
    (_, stored) => {
      const entry = decoded(stored);
      expect(entry).toBe(stored);
      expect(entry && originalText(entry)).toBeNull();
    },
  );

  it.each([null, 7, 'text', [], [message()], {}, message({ id: undefined }), ...badIds().map((id) => message({ id }))])(
    'without an id is no entry: %j',
    (stored) => {
      expect(decoded(stored)).toBeNull();
    },
  );

  it('may have any unknown field, which is kept', () => {
    fc.assert(
      fc.property(fc.constantFrom(...VALID), fc.jsonValue(), (stored, later) => {
        const entry = decoded({ ...stored, later });
        expect(entry).toEqual({ ...stored, later });
        expect(entry && JSON.parse(storedText(entry))).toEqual({ ...stored, later: JSON.parse(JSON.stringify(later)) });
      }),
    );
  });

  it('with anything in a field is shown as an entry of that kind or as unknown, and stored unchanged', () => {
    const fields = VALID.flatMap((stored) => Object.keys(stored).map((name) => [stored, name] as const));
    fc.assert(
      fc.property(fc.constantFrom(...fields), fc.jsonValue(), ([stored, name], value) => {
        fc.pre(name !== 'id');
        const changed = { ...stored, [name]: value };
        const entry = decoded(changed);
        if (entry === null) throw new Error('The element has an id.');
        expect(entry.id).toBe(7);
        expect(storedText(entry)).toBe(JSON.stringify(changed));
        if (JSON.stringify(entry) !== JSON.stringify(changed))
          expect(originalText(entry)).toBe(JSON.stringify(changed));
      }),
      { numRuns: 300 },
    );
  });

  it('that is nested too deeply keeps its text, because it cannot be serialised again', () => {
    const entry = decodeEntry(message({ later: deep(200) }), () => 'the text');
    expect(entry && originalText(entry)).toBe('the text');
    const shallow = decodeEntry(message({ later: deep(20) }), () => 'the text');
    expect(shallow && originalText(shallow)).toBeNull();
  });

  it.each([
    [{ type: 'poll' }, "an element of type 'poll'"],
    [{ type: 5 }, "an element of type '5'"],
    [{ type: 'compress', content: 5 }, "an element of type 'compress'"],
    [{ type: 'undo', turns: 5 }, "an element of type 'undo'"],
    [{ type: 'redo' }, "an element of type 'redo'"],
    [{ type: 'unpin', messages: 'all' }, "an element of type 'unpin'"],
    [{ type: 'pin', message: 'this' }, "an element of type 'pin'"],
    [{ type: 'pin', message: message({ id: 8 }) }, "an element of type 'pin'"],
    [{ type: 'pin', message: message({ id: 5, role: 'crowd' }) }, "an element of type 'pin'"],
    [{ role: 'narrator' }, "a message of role 'narrator'"],
    [{ role: ['user'] }, `a message of role '["user"]'`],
    [{}, "a message of role ''"],
    [{ type: 'x'.repeat(200) }, `an element of type '${'x'.repeat(60)}`],
  ])('that this version cannot read is described: %j', (fields, what) => {
    const stored = { id: 7, at: AT, ...fields };
    const entry = decoded(stored);
    expect(entry).toEqual({ id: 7, at: AT, type: 'unknown', what });
    expect(entry && storedText(entry)).toBe(JSON.stringify(stored));
  });
});

describe('a field of a message', () => {
  it.each<readonly [string, object, object]>([
    ['no turn is its own turn', { turn: undefined }, { turn: 7 }],
    ['a turn that comes later is its own', { turn: 8 }, { turn: 7 }],
    ['a turn that is no number is its own', { turn: '3' }, { turn: 7 }],
    ['a text is one part', { content: 'words' }, { content: [{ type: 'text', text: 'words' }] }],
    ['no content is empty', { content: undefined }, { content: [] }],
    ['null as content is empty', { content: null }, { content: [] }],
    ['one part without a list', { content: { type: 'text', text: 'a' } }, { content: [{ type: 'text', text: 'a' }] }],
    ['a time that is none', { at: 'yesterday' }, { at: '' }],
    ['a time before which something stands', { at: `on ${AT}` }, { at: '' }],
    ['a number as time', { at: 5 }, { at: '' }],
    ['a stop reason of a later version', { stop_reason: 'tired' }, { stop_reason: 'end' }],
    ['a folder that is no text', { cwd: 5 }, { cwd: '' }],
    ['a machine that is no text', { host: 5 }, { host: undefined }],
    ['usage without a count', { usage: { ...USAGE, cached_tokens: -1 } }, { usage: undefined }],
    ['usage with half a token', { usage: { ...USAGE, input_tokens: 0.5 } }, { usage: undefined }],
    ['usage that is a list', { usage: [1] }, { usage: undefined }],
    [
      'a source that is no address',
      { sources: [{ url: 'x' }, { url: 'http://a' }] },
      { sources: [{ url: 'http://a' }] },
    ],
    ['sources that are no list', { sources: {} }, { sources: undefined }],
    ['skills that are a list', { skills: [] }, { skills: undefined }],
    ['skills without names', { skills: {} }, { skills: { matched: [], active: [] } }],
  ])('is read as far as it can be: %s', (_, fields, shown) => {
    const stored = JSON.parse(JSON.stringify(message(fields)));
    const entry = decoded(stored);
    expect({ ...entry }).toEqual({ ...message(), ...shown });
    expect(JSON.parse(entry ? storedText(entry) : '')).toMatchObject(stored);
  });

  it.each<readonly [object, object]>([
    [
      { matched: ['a', 5], active: 'b' },
      { matched: ['a'], active: [] },
    ],
    [
      { held: ['a', null], pinned: 5, dropped: {} },
      { held: ['a'], pinned: undefined, dropped: undefined },
    ],
    [{ standing: 5 }, { standing: undefined }],
    [{ standing: { git: 5 } }, { standing: { git: { uses: 0, idle: 0 } } }],
    [
      { standing: { git: { uses: 'x', idle: -1, hand: 'raised' } } },
      { standing: { git: { uses: 0, idle: 0, hand: undefined } } },
    ],
    [
      { standing: { a: { uses: 2, idle: 1, hand: 'dropped' } } },
      { standing: { a: { uses: 2, idle: 1, hand: 'dropped' } } },
    ],
  ])('with its skills %j', (fields, shown) => {
    const { skills } = { skills: {}, ...decoded(message({ skills: { ...SKILLS, ...fields } })) };
    expect({ ...skills }).toEqual({ ...SKILLS, ...shown });
  });
});

describe('a part of a message', () => {
  it.each<readonly [unknown, string]>([
    [7, 'a part that is not an object'],
    [[], 'a part that is not an object'],
    [{ type: 'text', text: 5 }, 'a text part without text'],
    [{ type: 'thinking' }, 'a thinking part without text'],
    [{ type: 'image', mime: 'image/png', sha256: 'A'.repeat(64) }, 'an image without its SHA-256 and type'],
    [{ type: 'image', mime: 'image/png', sha256: `${SHA}a` }, 'an image without its SHA-256 and type'],
    [{ type: 'image', sha256: SHA }, 'an image without its SHA-256 and type'],
    [{ type: 'document', mime: 'application/pdf' }, 'a document without its SHA-256 and type'],
    [{ type: 'document', mime: 5, sha256: SHA }, 'a document without its SHA-256 and type'],
    [{ type: 'tool_call', name: 'a', args: {} }, 'a tool call without id and name'],
    [{ type: 'tool_call', call_id: 'c', args: {} }, 'a tool call without id and name'],
    [{ type: 'tool_result', call_id: 'c', result: 1 }, 'a tool result without id and name'],
    [{ type: 'tool_result', name: 'c', result: 1 }, 'a tool result without id and name'],
    [{ type: 'vendor' }, 'a block without content'],
    [{ type: 'vendor', opaque: [] }, 'a block without content'],
    [{ type: 'hologram' }, "a part of type 'hologram'"],
    [{}, "a part of type ''"],
    [{ type: 5 }, "a part of type '5'"],
    [{ type: 'y'.repeat(90) }, `a part of type '${'y'.repeat(40)}'`],
  ])('that cannot be read is described: %j', (part, words) => {
    expect(partShown(part)).toEqual({ type: 'text', text: `[${words}, which this version of hi cannot read]` });
  });

  const text = { type: 'text', text: 'a' };
  const image = { type: 'image', mime: 'image/png', sha256: SHA, bytes: 1 };
  const called = { ...CALL, args: {} };
  it.each<readonly [object, object]>([
    [{ ...text, opaque: 5 }, text],
    [{ ...text, opaque: deep(200) }, text],
    [
      { ...text, recalled: [1, -1, 'x', 2.5, 3] },
      { ...text, recalled: [1, 3] },
    ],
    [{ ...text, recalled: 'all' }, text],
    [{ ...text, clock: 'yes' }, text],
    [
      { type: 'thinking', text: 'a', opaque: [] },
      { type: 'thinking', text: 'a' },
    ],
    [
      { ...image, bytes: 'many', name: 5, width: -1, height: 0.5 },
      { ...image, bytes: 0 },
    ],
    [
      { ...image, type: 'document', bytes: -1, name: 'a.pdf' },
      { ...image, type: 'document', bytes: 0, name: 'a.pdf' },
    ],
    [
      { ...CALL, args: { a: 1 }, opaque: 'x' },
      { ...CALL, args: { a: 1 } },
    ],
    [CALL, { ...called, invalid_args: '(not in the history in a form that can be read)' }],
    [
      { ...CALL, args: 'rm' },
      { ...called, invalid_args: '(not in the history in a form that can be read)' },
    ],
    [
      { ...CALL, args: deep(200) },
      { ...called, invalid_args: '(nested deeper than 100 levels)' },
    ],
    [
      { ...CALL, args: 5, invalid_args: '{"a"' },
      { ...called, invalid_args: '{"a"' },
    ],
    [
      { ...RESULT, result: deep(200) },
      { ...RESULT, result: '(nested deeper than 100 levels)' },
    ],
    [
      { ...RESULT, result: 1, error: null },
      { ...RESULT, result: 1 },
    ],
    [
      { ...RESULT, result: 1, error: 'no' },
      { ...RESULT, error: 'no' },
    ],
    [
      { ...RESULT, result: 1, error: 5 },
      { ...RESULT, error: 'The history does not hold the result in a form that can be read.' },
    ],
    [RESULT, { ...RESULT, error: 'The history does not hold the result in a form that can be read.' }],
  ])('is read as far as it can be: %j', (part, shown) => {
    expect(partShown(part)).toEqual(shown);
    const entry = decoded(message({ content: [part] }));
    expect(entry && storedText(entry)).toBe(JSON.stringify(message({ content: [part] })));
  });
});

describe('a field of a block or a mark', () => {
  it.each<readonly [object, object]>([
    [{ first_kept: 8 }, { first_kept: null }],
    [{ first_kept: 7 }, { first_kept: 7 }],
    [{ first_kept: 0 }, { first_kept: null }],
    [{ strategy: 5 }, { strategy: 'unknown' }],
    [{ source: 'oracle' }, { source: 'model' }],
    [
      { messages_compacted: -1, messages_kept: 'x' },
      { messages_compacted: 0, messages_kept: 0 },
    ],
    [
      { tokens_before: 2.5, tokens_after: null },
      { tokens_before: 0, tokens_after: 0 },
    ],
    [
      { tokens_before: 2 ** 52, tokens_after: 2 ** 52 + 1 },
      { tokens_before: 2 ** 52, tokens_after: 0 },
    ],
    [
      { state: [], model: 5 },
      { state: undefined, model: undefined },
    ],
    [{ restores: 8 }, { restores: undefined }],
    [{ restores: 7 }, { restores: 7 }],
    [{ pins: 5 }, { pins: undefined }],
    [{ pins: { until: 8, messages: 5 } }, { pins: { until: 0, messages: [] } }],
    [
      {
        pins: {
          until: 2,
          messages: [5, message({ id: 8 }), message({ id: 2, role: 'x' }), message({ id: 6, cwd: 5 })],
        },
      },
      { pins: { until: 2, messages: [message({ id: 6, turn: 3, cwd: '' })] } },
    ],
  ])('is read as far as it can be: %j', (fields, shown) => {
    const entry = decoded(block(fields));
    expect({ ...entry }).toEqual({ ...block(), ...shown });
    expect(entry && storedText(entry)).toBe(JSON.stringify(block(fields)));
  });

  it.each(['undo', 'redo'])('leaves out of %s the turns that come later and what is no turn', (type) => {
    expect(decoded({ id: 7, at: AT, type, turns: [1, 8, 'x', 0, 7] })).toEqual({ id: 7, at: AT, type, turns: [1, 7] });
  });

  it('leaves out the later of the messages that are unpinned', () => {
    expect(decoded({ id: 7, at: 5, type: 'unpin', messages: [8, 2] })).toEqual({
      id: 7,
      at: '',
      type: 'unpin',
      messages: [2],
    });
  });

  it('shows a pinned message as far as it can be read', () => {
    const entry = decoded({ id: 7, at: AT, type: 'pin', message: message({ id: 5, content: 'a' }) });
    expect(entry).toMatchObject({ type: 'pin', message: { id: 5, content: [{ type: 'text', text: 'a' }] } });
  });
});

function badIds(): readonly unknown[] {
  return [0, -1, 1.5, '7', null, [7], 2 ** 52 + 1, Number.NaN];
}
