import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Collector } from '../../../lib/recall/index/collector.js';
import type { Kind } from '../../../lib/recall/index/part.js';
import { type Bounds, parseQuery, whoIsAsked } from '../../../lib/recall/rank/query.js';
import { certainty, rank, Scores } from '../../../lib/recall/rank/rank.js';
import { words } from '../../../lib/recall/words/words.js';
import { LOOK_UPS } from '../look-ups.js';

const ANY: Bounds = { kinds: null, from: null, until: null, favour: {} };

function collected(
  texts: readonly (string | { readonly text: string; readonly kind?: Kind; readonly day?: number })[],
) {
  const collector = new Collector();
  for (const one of texts) collector.add({ kind: 'user', day: 0, ...(typeof one === 'string' ? { text: one } : one) });
  return collector;
}

function found(texts: Parameters<typeof collected>[0], query: string, bounds = ANY): readonly number[] {
  const plain = texts.map((one) => (typeof one === 'string' ? one : one.text));
  const scores = new Scores([collected(texts)]);
  const ranked = rank(scores, parseQuery(query), bounds, (document) => plain[document] ?? null);
  return Array.from(ranked, ({ document }) => document);
}

describe('a search', () => {
  it('finds names, errors and foreign words as people type them', () => {
    const texts = LOOK_UPS.map(({ text }) => text);
    const missed = LOOK_UPS.filter(({ query }, index) => found(texts, query)[0] !== index).map(({ query }) => query);
    expect(missed.length).toBeLessThanOrEqual(LOOK_UPS.length * 0.1);
  });

  it('ranks rare words first, and neighbours after a match', () => {
    const texts = ['we had bread', 'and some zucchini', 'with bread', 'bread', 'nothing', 'nothing'];
    expect(found(texts, 'zucchini bread')[0]).toBe(1);
    expect(found(texts, 'zucchini').slice(0, 3)).toEqual([1, 2, 0]);
  });

  it('prefers words in the order of the question', () => {
    const filler = Array.from({ length: 20 }, (_, index) => `filler${index}`);
    expect(found(['cat dog', ...filler, 'dog cat', ...filler], 'dog cat')[0]).toBe(21);
  });

  it('ranks the output of tools lower than what people said', () => {
    const filler = Array.from({ length: 20 }, (_, index) => `filler${index}`);
    const texts = [{ text: 'espresso machine', kind: 'tool' as const }, ...filler, 'espresso machine', ...filler];
    expect(found(texts, 'espresso machine')[0]).toBe(21);
  });

  it('returns only the requested authors and days', () => {
    const texts = [
      { text: 'espresso', kind: 'model' as const, day: 10 },
      { text: 'espresso', kind: 'user' as const, day: 20 },
      { text: 'espresso', kind: 'user' as const, day: 30 },
    ];
    expect(found(texts, 'espresso', { ...ANY, kinds: ['model'] })).toEqual([0]);
    expect(found(texts, 'espresso', { ...ANY, kinds: ['user'], from: 25 })).toEqual([2]);
    expect(found(texts, 'espresso', { ...ANY, until: 19 })).toEqual([0]);
  });

  it('counts rarity and neighbours only among messages of the requested authors', () => {
    const copies = Array.from({ length: 50 }, () => ({ text: 'espresso machine in Lisbon', kind: 'foreign' as const }));
    const filler = Array.from({ length: 200 }, (_, index) => `filler${index}`);
    const texts = [...filler, 'an espresso machine', ...copies];
    const scores = new Scores([collected(texts)]);
    const own: Bounds = { ...ANY, kinds: ['user', 'model'], alone: true };
    const sure = (query: string, bounds: Bounds): number =>
      certainty(scores.best(parseQuery(query).terms, bounds, 1)[0] ?? never());
    const plain = new Scores([collected([...filler, 'an espresso machine'])]);
    const expected = certainty(plain.best(parseQuery('espresso machine in Lisbon').terms, ANY, 1)[0] ?? never());
    expect(sure('espresso machine in Lisbon', own)).toBeCloseTo(expected);
    expect(sure('espresso machine in Lisbon', { ...own, alone: false })).not.toBeCloseTo(expected);
  });

  it('leaves out excluded messages', () => {
    const scores = new Scores([collected(['espresso', 'espresso'])]);
    const ranked = rank(scores, parseQuery('espresso'), ANY, (document) => (document === 0 ? null : 'espresso'));
    expect(Array.from(ranked, ({ document }) => document)).toEqual([1]);
  });

  it('is certain about a whole question, but not about one of its words', () => {
    const texts = [
      'the espresso machine broke in Lisbon',
      ...Array.from({ length: 200 }, (_, index) => `word${index} machine`),
    ];
    const scores = new Scores([collected(texts)]);
    const sure = (query: string): number =>
      certainty([...rank(scores, parseQuery(query), ANY, () => '')][0] ?? never());
    expect(sure('espresso machine in Lisbon')).toBeGreaterThan(3);
    expect(sure('violin concert with a machine in Helsinki')).toBeLessThan(1);
  });

  it('scores a document like plain counting', () => {
    const word = fc.constantFrom('apple', 'berry', 'citrus', 'damson', 'elder');
    const texts = fc.array(
      fc.array(word, { minLength: 1, maxLength: 12 }).map((list) => list.join(' ')),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(texts, fc.array(word, { minLength: 1, maxLength: 3 }), (all, asked) => {
        const wanted = new Set(words(asked.join(' ')));
        const has = (text: string | undefined): number => words(text ?? '').filter((one) => wanted.has(one)).length;
        const expected = all.flatMap((text, index) =>
          has(all[index - 1]) + has(text) + has(all[index + 1]) > 0 ? [index] : [],
        );
        const best = new Scores([collected(all)]).best(parseQuery(asked.join(' ')).terms, ANY, 1000);
        expect(best.map(({ document }) => document).sort((one, other) => one - other)).toEqual(expected);
        for (const { document, terms } of best) expect(terms === 0).toBe(has(all[document]) === 0);
      }),
    );
  });

  it('finds the same best documents, however few are wanted', () => {
    const word = fc.constantFrom('apple', 'berry', 'citrus', 'damson', 'elder', 'filler');
    const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((list) => list.join(' '));
    const kind = fc.constantFrom<Kind>('user', 'model', 'tool');
    const texts = fc.array(fc.record({ text, kind }), { maxLength: 80, size: 'max' });
    const asked = fc.array(word, { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(texts, asked, fc.integer({ min: 1, max: 9 }), (all, search, limit) => {
        const scores = new Scores([collected(all)]);
        const { terms } = parseQuery(search.join(' '));
        const bounds = { ...ANY, favour: { user: 1.6 } };
        expect(scores.best(terms, bounds, limit)).toEqual(scores.best(terms, bounds, 1000).slice(0, limit));
      }),
    );
  });

  it('finds which of many terms each document contains, search after search', () => {
    const names = Array.from('bcdfghklmnprtvz', (first) => [`${first}ako`, `${first}umo`, `${first}ilo`]).flat();
    const texts = fc.array(fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 40 }), {
      maxLength: 30,
    });
    const asked = fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 31 });
    fc.assert(
      fc.property(texts, fc.array(asked, { minLength: 1, maxLength: 4 }), (all, searches) => {
        const scores = new Scores([collected(all.map((list) => list.join(' ')))]);
        for (const search of searches) {
          const had = all.map((list) => search.filter((name) => list.includes(name)));
          for (const { document, terms } of scores.best(parseQuery(search.join(' ')).terms, ANY, 1000)) {
            const own = had[document] ?? [];
            expect(terms.toString(2).replaceAll('0', '')).toHaveLength(own.length);
            const later = had.findLastIndex(
              (list, other) => other > document && own.every((name) => list.includes(name)),
            );
            if (own.length > 0) expect(scores.later(document, terms, scores.count)).toBe(later < 0 ? null : later);
          }
        }
      }),
    );
  });
});

describe('the author that a question asks about', () => {
  it.each([
    ['What did you recommend for the trip?', { model: 1.6, foreign: 1.6 }],
    ['Did I say when my sprint ends?', { user: 1.6, attached: 1.6 }],
    ['Was hast du mir empfohlen?', { model: 1.6, foreign: 1.6 }],
    ['the espresso machine', {}],
  ])('%s', (question, expected) => {
    expect(whoIsAsked(question)).toEqual(expected);
  });
});

function never(): never {
  throw new Error('Nothing was found.');
}
