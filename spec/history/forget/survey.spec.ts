import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type CompressBlock, type Entry, rememberOriginal, storedText } from '../../../lib/chat/entry.js';
import type { Message, TextPart } from '../../../lib/chat/message.js';
import type { ForgetOrder } from '../../../lib/chat/occurrence.js';
import { asTokens } from '../../../lib/chat/request.js';
import { decodeEntry } from '../../../lib/history/file/decode-entry.js';
import { type Criteria, criteriaForCopy, criteriaOf, Survey } from '../../../lib/history/forget/survey.js';
import { view } from '../../../lib/view/view.js';
import { conversationOf, steps } from '../../support/forgetting.js';
import fc, { cases } from '../../support/properties.js';

const at = (id: number): string => new Date(Date.UTC(2026, 0, 1) + id * 60_000).toISOString();
const text = (words: string): TextPart => ({ type: 'text', text: words });

function user(id: number, words: string, more: Partial<Message> = {}): Message {
  return { id, turn: id, at: at(id), role: 'user', content: [text(words)], cwd: '/', ...more };
}

function answer(id: number, turn: number, words: string, more: Partial<Message> = {}): Message {
  return { ...user(id, words), turn, role: 'assistant', stop_reason: 'end', ...more };
}

function block(id: number, content: string, more: Partial<CompressBlock> = {}): CompressBlock {
  const sizes = { messages_compacted: 1, messages_kept: 1, tokens_before: asTokens(9), tokens_after: asTokens(5) };
  return {
    type: 'compress',
    id,
    at: at(id),
    content,
    strategy: 's',
    source: 'model',
    first_kept: null,
    ...sizes,
    ...more,
  };
}

const TURNS = [user(1, 'one'), answer(2, 1, 'two'), user(3, 'my word is xyzzy'), answer(4, 3, 'noted')];

const said = (order: string): ForgetOrder => ({ kind: 'text', text: order });
const ids = (...numbers: readonly number[]): ForgetOrder => ({ kind: 'messages', ids: numbers });

/** What is left of a log, and the survey that says so. */
function forgotten(entries: readonly Entry[], order: ForgetOrder | Criteria, attachments: readonly string[] = []) {
  const criteria = 'kind' in order ? criteriaOf(order, new Set(attachments)) : order;
  const survey = new Survey(entries, criteria);
  return { survey, left: entries.flatMap((entry) => survey.change(entry) ?? []) };
}

/** The counts of a survey. */
const counts = ({ messages, summaries, others, shortened, isEmpty }: Survey) => ({
  messages: messages.map(({ id }) => id),
  summaries,
  others,
  shortened,
  isEmpty,
});
const NOTHING = { messages: [], summaries: 0, others: 0, shortened: 0, isEmpty: true };

describe('what is forgotten', () => {
  it('is everything that contains a text and what rests on it, and the rest stays word for word', () => {
    const texts = fc.constantFrom('hunter2-xyzzy', 'Projekt "Adler"', 'a \\secret\\path');
    fc.assert(
      fc.property(steps, texts, (taken, word) => {
        const { entries, staying, attachments } = conversationOf(taken, word, 'now');
        const holding = attachments.filter((bytes) => bytes.includes(word));
        const hashes = holding.map((bytes) => createHash('sha256').update(bytes).digest('hex'));
        const { survey, left } = forgotten(entries, said(word), hashes);
        const isShell = (entry: Entry): boolean => 'content' in entry && entry.content.length === 0;
        expect(left.filter((entry) => !isShell(entry))).toEqual(entries.filter(({ id }) => staying.has(id)));
        expect(survey.isEmpty).toBe(staying.size === entries.length);
        expect(survey.messages.length + survey.summaries + survey.others).toBe(entries.length - staying.size);
        expect(left.at(-1)?.id).toBe(entries.at(-1)?.id);
        const again = new Survey(left, criteriaOf(said(word), new Set(hashes)));
        expect(counts(again)).toEqual(NOTHING);
      }),
      { numRuns: cases(300) },
    );
  });

  it('is the messages given by their ids, or all since a time', () => {
    expect(counts(forgotten(TURNS, ids(2, 3, 99)).survey)).toMatchObject({ messages: [2, 3], isEmpty: false });
    const since = (date: string): ForgetOrder => ({ kind: 'since', from: new Date(date) });
    expect(forgotten(TURNS, since(at(3))).survey.messages.map(({ id }) => id)).toEqual([3, 4]);
    expect(counts(forgotten(TURNS, since('2027-01-01')).survey)).toEqual(NOTHING);
  });

  it('does not match words if ids or a time are given', () => {
    const entries = [...TURNS, block(5, 'one', { first_kept: 1 })];
    expect(forgotten(entries, ids(1)).left.some(({ id }) => id === 5)).toBe(true);
    const since: ForgetOrder = { kind: 'since', from: new Date(at(3)) };
    expect(criteriaOf(since, new Set()).holds('xyzzy')).toBe(false);
    expect(criteriaOf(ids(1), new Set()).holds('xyzzy')).toBe(false);
  });

  it('includes names and sources, but neither notes of hi about a message nor the names of tools', () => {
    const names = [
      answer(2, 1, 'a', { sources: [{ url: 'https://xyzzy.example' }] }),
      user(3, 'b', {
        content: [{ type: 'document', mime: 'a/b', sha256: 'a'.repeat(64), bytes: 1, name: 'xyzzy.pdf' }],
      }),
      user(4, 'c', { content: [{ type: 'tool_result', call_id: '1', name: 'n', error: 'no xyzzy' }] }),
    ];
    expect(forgotten(names, said('xyzzy')).survey.messages.map(({ id }) => id)).toEqual([2, 3, 4]);
    const notes = [
      answer(2, 1, 'a', { model: 'xyzzy', provider: 'xyzzy', origin: 'xyzzy', zone: 'xyzzy' }),
      user(3, 'b', { skills: { matched: ['xyzzy'], active: [] } }),
      answer(4, 3, 'c', { content: [{ type: 'tool_call', call_id: 'xyzzy', name: 'xyzzy', args: {} }] }),
      user(5, 'd', { content: [{ type: 'document', mime: 'xyzzy', sha256: 'a'.repeat(64), bytes: 1 }] }),
    ];
    expect(counts(forgotten(notes, said('xyzzy')).survey)).toEqual(NOTHING);
  });

  it('includes messages with an attachment that contains the text', () => {
    const sha256 = 'b'.repeat(64);
    const image = user(1, 'look', { content: [{ type: 'image', mime: 'image/png', sha256, bytes: 1 }] });
    const other = user(2, 'look', {
      content: [{ type: 'image', mime: 'image/png', sha256: 'c'.repeat(64), bytes: 1 }],
    });
    expect(forgotten([image, other], said('xyzzy'), [sha256]).survey.messages).toEqual([image]);
    const later = decodeEntry({ id: 3, at: at(3), type: 'poll', picture: sha256 }, () => `{"picture":"${sha256}"}`);
    const known = forgotten([image, ...(later ? [later] : [])], said('xyzzy'), [sha256]).survey;
    expect(counts(known)).toMatchObject({ messages: [1], others: 1 });
  });

  it('is the whole message if this version cannot shorten it', () => {
    const stored = {
      ...user(1, 'one', { content: [{ ...text('recalled xyzzy'), recalled: [9] }, text('new')] }),
      cwd: 5,
    };
    const entry = decodeEntry(stored, () => JSON.stringify(stored));
    expect(forgotten(entry ? [entry, user(2, 'x')] : [], said('xyzzy')).left.map(({ id }) => id)).toEqual([2]);
  });

  it('includes an element of a later version that contains the text, or that was added since', () => {
    const poll = decodeEntry({ id: 5, at: at(5), type: 'poll', ask: 'xyzzy?' }, () => '{"ask":"xyzzy?"}');
    const entries = [...TURNS, ...(poll ? [poll] : []), user(6, 'end')];
    for (const order of [said('xyzzy'), { kind: 'since', from: new Date(at(5)) } as const]) {
      const { survey, left } = forgotten(entries, order);
      expect(survey.others).toBe(1);
      expect(left.some(({ id }) => id === 5)).toBe(false);
    }
    for (const order of [said('noted'), ids(1), { kind: 'since', from: new Date(at(6)) } as const])
      expect(forgotten(entries, order).left.find(({ id }) => id === 5)).toBe(poll);
  });
});

describe('what hi added to a message', () => {
  it('is removed with what was recalled, and with a line of the clock, a folder or a machine that contains the text', () => {
    const recalled = user(5, 'new', { content: [{ ...text('earlier: my word'), recalled: [3] }, text('new')] });
    const clock = user(7, 'a', { content: [{ ...text('It is xyzzy o’clock'), clock: true }, text('a')], host: 'here' });
    const place = user(9, 'b', { cwd: '/home/xyzzy', host: 'xyzzy' });
    const host = user(11, 'c', { cwd: '/home', host: 'XYZZY.local' });
    const entries = [...TURNS, recalled, clock, place, host, user(13, 'plain', { host: 'here' })];
    const { survey, left } = forgotten(entries, said('xyzzy'));
    expect(counts(survey)).toMatchObject({ messages: [3], shortened: 4, isEmpty: false });
    const shown = new Map(left.map((entry) => [entry.id, entry]));
    expect(shown.get(5)).toEqual({ ...recalled, content: [text('new')] });
    expect(shown.get(7)).toEqual({ ...clock, content: [text('a')] });
    expect(shown.get(9)).toEqual(user(9, 'b', { cwd: '' }));
    expect(shown.get(11)).toEqual(user(11, 'c', { cwd: '/home' }));
    expect(shown.get(13)).toBe(entries.at(-1));
  });

  it('stays if something else was recalled, and what the user typed always does', () => {
    const entries = [...TURNS, user(5, 'n', { content: [{ ...text('earlier: one'), recalled: [1] }, text('n')] })];
    expect(forgotten(entries, ids(3)).left).toEqual(entries.filter(({ id }) => id !== 3));
    expect(forgotten(entries, said('n')).survey.messages.map(({ id }) => id)).toContain(5);
  });

  it('is removed by ids only once they are gone', () => {
    const recalled = { ...text('one'), recalled: [1, 2] };
    const { left } = forgotten([...TURNS, user(5, 'n', { content: [recalled, text('n')] })], ids(2));
    expect(left.at(-1)).toMatchObject({ content: [text('n')] });
  });
});

describe('a summary', () => {
  it('is removed if it was made of what is forgotten, and stays if it kept that word for word', () => {
    for (const [more, stays] of [
      [{ first_kept: 3 }, true],
      [{ first_kept: 4 }, false],
      [{ first_kept: null }, false],
      [{ first_kept: 4, state: { cut: { turn: 3, id: 3 } } }, true],
      [{ first_kept: 1, state: { cut: { turn: 3, id: 4 } } }, false],
      [{ first_kept: 1, state: { cut: { turn: 4, id: 4 } } }, false],
      [{ first_kept: 1, state: { cut: { turn: 2, id: 9 } } }, true],
    ] as const) {
      const entries = [...TURNS, block(5, 'They talked.', more), user(6, 'end')];
      const { survey, left } = forgotten(entries, ids(3));
      expect(left.some(({ id }) => id === 5)).toBe(stays);
      expect(survey.summaries).toBe(stays ? 0 : 1);
    }
  });

  it('is removed if it contains the text, also in its facts', () => {
    for (const more of [{ content: 'The word is XYZZY.' }, { state: { facts: [{ kind: 'fact', text: 'xyzzy' }] } }]) {
      const entries = [user(1, 'a'), block(2, 'They talked.', { first_kept: 1, ...more }), user(3, 'b')];
      expect(counts(forgotten(entries, said('xyzzy')).survey)).toEqual({ ...NOTHING, summaries: 1, isEmpty: false });
    }
  });

  it('loses the pinned messages that are forgotten and keeps the others', () => {
    const pins = { until: 4, messages: [TURNS[0], TURNS[2]].flatMap((message) => message ?? []) };
    const entries = [...TURNS, block(5, 'They talked.', { first_kept: 1, pins }), user(6, 'end')];
    const { survey, left } = forgotten(entries, ids(3));
    expect(survey).toMatchObject({ summaries: 0, shortened: 1 });
    expect(left.find(({ id }) => id === 5)).toMatchObject({ pins: { until: 4, messages: [TURNS[0]] } });
    expect(forgotten(entries, ids(4)).left.find(({ id }) => id === 5)).toBe(entries[4]);
  });
});

describe('a pin', () => {
  it('is removed with its message, even if that is no longer in the log', () => {
    const [, , word] = TURNS;
    if (word === undefined) throw new Error('There is no third message.');
    const pin = { type: 'pin', id: 5, at: at(5), message: word } as const;
    expect(counts(forgotten([...TURNS, pin, user(6, 'end')], ids(3)).survey)).toMatchObject({
      messages: [3],
      others: 1,
    });
    expect(counts(forgotten([pin, user(6, 'end')], said('xyzzy')).survey)).toMatchObject({ messages: [], others: 1 });
    expect(forgotten([...TURNS, pin, user(6, 'end')], ids(1)).survey.others).toBe(0);
  });
});

describe('the placeholder of what is forgotten', () => {
  it('exists if a remaining turn would have no end, and at the end of the log, so that ids are not used again', () => {
    const { left } = forgotten(TURNS, ids(2, 4));
    expect(left).toEqual([
      TURNS[0],
      { ...answer(2, 1, ''), content: [], cwd: '' },
      TURNS[2],
      { ...answer(4, 3, ''), content: [], cwd: '' },
    ]);
    expect(view(left, null).messages).toEqual([TURNS[0], TURNS[2]]);
  });

  it('does not exist if the whole turn is removed, or if its end stays', () => {
    expect(forgotten(TURNS, ids(1, 2)).left).toEqual(TURNS.slice(2));
    expect(forgotten(TURNS, ids(1)).left).toEqual(TURNS.slice(1));
    const called = [user(1, 'a'), answer(2, 1, 'b', { stop_reason: 'tool_calls' }), user(3, 'c')];
    expect(forgotten(called, ids(2)).left).toEqual([called[0], called[2]]);
  });

  it('is a message in the last turn if a summary or a pin was the newest', () => {
    const shell = { turn: 3, role: 'assistant', content: [], cwd: '', stop_reason: 'end' };
    const { left } = forgotten([...TURNS, block(5, 'xyzzy')], said('xyzzy'));
    expect(left.at(-1)).toEqual({ ...shell, id: 5, at: at(5) });
    expect(forgotten([block(5, 'xyzzy')], said('xyzzy')).left).toEqual([{ ...shell, turn: 5, id: 5, at: at(5) }]);
  });

  it('does not count as something to forget', () => {
    const { left } = forgotten(TURNS, ids(2, 4));
    expect(counts(forgotten(left, ids(2, 4)).survey)).toEqual(NOTHING);
  });
});

describe('if the messages of summaries were removed', () => {
  const cut = (turn: number) => ({ state: { cut: { turn, id: turn } } });
  const [first, second] = [block(5, 'On pnpm [#1 #3].', cut(5)), block(8, 'More.', cut(8))];
  const log = [first, second, user(9, 'five'), answer(10, 9, 'six')];

  it('a summary that cites the given id is removed, and all later ones', () => {
    expect(forgotten(log, ids(3)).left).toEqual(log.slice(2));
    expect(
      forgotten([block(5, 'On tabs.', cut(5)), block(8, 'Pnpm [#7].', cut(8)), ...log.slice(2)], ids(7)).left,
    ).toEqual([block(5, 'On tabs.', cut(5)), ...log.slice(2)]);
    expect(forgotten(log, ids(4)).survey.isEmpty).toBe(true);
  });

  it('a summary made since a time is removed, and no others', () => {
    const since = (id: number): ForgetOrder => ({ kind: 'since', from: new Date(at(id)) });
    expect(forgotten(log, since(8)).left.map(({ id }) => id)).toEqual([5, 10]);
    expect(forgotten(log, since(9)).left.map(({ id }) => id)).toEqual([5, 8, 10]);
    const whole = [
      ...TURNS,
      block(5, 'Talk.', cut(3)),
      block(6, 'More.', cut(5)),
      user(9, 'five'),
      answer(10, 9, 'six'),
    ];
    expect(forgotten(whole, since(5)).left.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5, 6, 10]);
  });
});

describe('ids in a copy', () => {
  it('match the same messages under other ids, and leave others with these ids', () => {
    const [, , word, noted] = TURNS;
    if (word === undefined || noted === undefined) throw new Error('There are four messages.');
    const criteria = criteriaForCopy(ids(3), new Set(), [word]);
    const copy = [{ ...user(3, 'other') }, { ...word, id: 13, turn: 13 }, { ...noted, id: 14, turn: 13 }];
    expect(forgotten(copy, criteria).survey.messages.map(({ id }) => id)).toEqual([13]);
    expect(criteria.holds('my word is xyzzy')).toBe(false);
    const poll = rememberOriginal({ type: 'unknown', id: 5, at: at(3), what: 'x' }, 'my word is xyzzy');
    expect(criteria.isUnknownMeant(poll.at, storedText(poll))).toBe(false);
    expect(criteriaForCopy(said('xyzzy'), new Set(), []).isMeant(word, 'my word is xyzzy')).toBe(true);
  });
});
