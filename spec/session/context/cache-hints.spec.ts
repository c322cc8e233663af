import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Message } from '../../../lib/chat/message.js';
import type { CacheRates, CacheTerm } from '../../../lib/chat/model.js';
import { anthropic } from '../../../lib/providers/anthropic.js';
import { openai } from '../../../lib/providers/openai.js';
import { cacheHints } from '../../../lib/session/context/cache-hints.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const ratesOf = (terms: readonly CacheTerm[] = []): CacheRates => {
  const [usual = { life: 0, write: 1 }, ...others] = terms;
  return { terms: [usual, ...others], read: 0.05 };
};

const ANTHROPIC = ratesOf(anthropic.cacheTerms?.('claude-sonnet-5-5', {}, true));
const OPENAI = ratesOf(openai.cacheTerms?.('gpt-6.1-sol', {}, true));
const PAUSES = fc.constantFrom(0.1, 1, 4, 5, 6, 10, 29, 31, 45, 60, 61, 120, 700, 1500);

/** What a question and its answer add, in tokens; nearly all of it is the answer. */
const PER_TURN = 500;

/** A question after each of these pauses, in minutes, the last one unanswered. The first prompt is of 6000 tokens. */
function talk(pauses: readonly number[]): Message[] {
  const said: Message[] = [];
  let now = Date.UTC(2026, 0, 1);
  const say = (turn: number, role: Message['role'], input_tokens = 0) => {
    const usage = { input_tokens, output_tokens: 200, cached_tokens: 0, context_tokens: input_tokens + 200 };
    const at = new Date(now).toISOString();
    const given = role === 'assistant' && input_tokens > 0 ? { usage } : {};
    said.push({ id: said.length + 1, turn, role, at, cwd: '/', content: [], ...given });
  };
  for (const [index, pause] of [0, ...pauses].entries()) {
    now += pause * MINUTE;
    const turn = said.length + 1;
    say(turn, 'user');
    if (index < pauses.length) say(turn, 'assistant', 6000 + PER_TURN * index);
  }
  return said;
}

const lifeFor = (said: readonly Message[], rates: CacheRates, running = said.at(-1)?.turn ?? null) =>
  cacheHints('log', said, running, rates).life;

const times = (count: number, pause: number): number[] => Array.from({ length: count }, () => pause);

describe('how long a prompt is to be kept', () => {
  it.each([
    ['five minutes at first', [], ANTHROPIC, 5 * MINUTE],
    ['five minutes while the pauses are shorter', times(9, 4), ANTHROPIC, 5 * MINUTE],
    ['an hour from the first pause on that a new user makes', [10], ANTHROPIC, HOUR],
    ['an hour while all pauses are of that kind', times(9, 45), ANTHROPIC, HOUR],
    ['five minutes after one such pause of many', [...times(19, 1), 10], ANTHROPIC, 5 * MINUTE],
    ['not at all where nothing would be read', times(9, 120), ANTHROPIC, 0],
    ['five minutes again after some short pauses', [...times(9, 120), 1, 1], ANTHROPIC, 5 * MINUTE],
    ["half an hour by OpenAI's rules", times(9, 10), OPENAI, 30 * MINUTE],
    ['twelve hours where the pauses are longer than that', times(3, 45), OPENAI, 12 * HOUR],
    ['not at all where they are longer than twelve hours', times(9, 1500), OPENAI, 0],
  ])('is %s', (_what, pauses, rates, life) => {
    expect(lifeFor(talk(pauses), rates)).toBe(life);
  });

  it('stays the same whatever follows the question, but for a prompt that was not kept', () => {
    fc.assert(
      fc.property(fc.array(PAUSES, { maxLength: 30 }), fc.constantFrom(ANTHROPIC, OPENAI), (pauses, rates) => {
        const said = talk(pauses);
        const { turn = 0, at = '' } = said.at(-1) ?? {};
        const next = { cwd: '/', content: [], at };
        const answered: Message[] = [
          ...said,
          { ...next, id: turn + 1, turn, role: 'assistant' },
          { ...next, id: turn + 2, turn, role: 'tool' },
          { ...next, id: turn + 3, turn: turn + 3, role: 'user', at: new Date(Date.parse(at) + HOUR).toISOString() },
        ];
        const life = lifeFor(said, rates);
        expect(lifeFor(answered, rates, turn)).toBe(life === 0 ? rates.terms[0].life : life);
      }),
    );
  });

  it('does not count the time since the output of a local command', () => {
    const said = talk(times(3, 10));
    const { turn = 0 } = said.at(-1) ?? {};
    const at = new Date(Date.UTC(2027, 0, 1)).toISOString();
    const local: Message = { id: turn + 1, turn: turn + 1, role: 'user', at, cwd: '/', content: [] };
    expect(lifeFor([...said, local], ANTHROPIC, turn + 1)).toBe(HOUR);
  });

  it('is left to a server with one way to keep it, and follows the pauses where no usage is reported', () => {
    expect(lifeFor(talk(times(9, 10)), ratesOf([{ life: HOUR, write: 1 }]))).toBeNull();
    const bare = talk(times(5, 10)).map(({ usage: _, ...message }) => message);
    expect(lifeFor(bare, ANTHROPIC)).toBe(HOUR);
  });
});

/**
 * What a conversation costs in tokens of usual input, and the least that any choice for each of its questions would
 * have cost.
 */
function spent(pauses: readonly number[], rates: CacheRates): number {
  const said = talk(pauses);
  const lives = [0, ...pauses].map((_, at) => lifeFor(said.slice(0, 2 * at + 1), rates, 2 * at + 1) ?? 0);
  const cost = costs(pauses, rates);
  let [sum, kept] = [0, 0];
  for (const [at, life] of lives.entries()) {
    sum += cost(at, kept, life);
    kept = life;
  }
  const lowest = least(cost, lives.length, rates);
  return sum / lowest;
}

/** The price of the question number `at` after one that was kept for `kept`, itself kept for `life`. */
const costs =
  (pauses: readonly number[], { terms, read }: CacheRates) =>
  (at: number, kept: number, life: number): number => {
    const write = terms.find((term) => term.life === life)?.write ?? Number.NaN;
    const size = 6000 + PER_TURN * at;
    const pause = (pauses[at - 1] ?? Number.POSITIVE_INFINITY) * MINUTE;
    const found = kept > 0 && pause <= kept ? size - PER_TURN : 0;
    return found * read + (size - found) * write + 5 * PER_TURN;
  };

function least(cost: ReturnType<typeof costs>, count: number, { terms }: CacheRates): number {
  let best = new Map([[0, 0]]);
  for (let at = 0; at < count; at += 1) {
    const next = terms.map(
      ({ life }) => [life, Math.min(...[...best].map(([kept, sum]) => sum + cost(at, kept, life)))] as const,
    );
    best = new Map(next);
  }
  return Math.min(...best.values());
}

it.each([
  ['Anthropic', ANTHROPIC],
  ['OpenAI', OPENAI],
])('costs at most 1.1 times the least possible over 20 questions at one pace by the rules of %s', (_who, rates) => {
  for (const pause of [1, 4, 10, 25, 45, 120, 480, 1500]) {
    const ratio = spent(times(19, pause), rates);
    expect({ pause, ratio, isCheap: ratio <= 1.1 }).toMatchObject({ isCheap: true });
  }
});
