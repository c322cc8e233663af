import { type Entry, isMessage } from '../../chat/entry.js';
import type { Message } from '../../chat/message.js';
import type { CacheRates, CacheTerm } from '../../chat/model.js';
import type { CacheHints } from '../../chat/request.js';

/**
 * A request of the conversation: its prompt in tokens, that of the request before it, and the pause between them in
 * milliseconds.
 */
interface Asked {
  readonly size: number;
  readonly before: number;
  readonly pause: number;
}

/** A question with the requests that answered it, the first one after the pause of the user. */
type AskedTurn = readonly [Asked, ...Asked[]];

/**
 * Later questions say more about the next ones: each one counts so much of the one after it, and no more than so many
 * count at all.
 */
const FADING = 0.9;
const MOST = 20;

/** So many questions are expected to follow. A mark that is dear to write has to pay for itself within them. */
const EXPECTED = 5;

/**
 * The cache hints for a request of the turn `running` of the conversation `key`: the mark with which this question and
 * the next ones cost least at the vendor's rates if the user goes on to pause as before. They depend on what was said
 * until that turn began, and on whether it is the turn's first request.
 */
export function cacheHints(
  key: string | null,
  entries: readonly Entry[],
  running: number | null,
  rates: CacheRates | undefined,
): CacheHints {
  if (rates === undefined || rates.terms.length < 2) return { key, life: null };
  const turns = lately(entries, running);
  const [usual] = rates.terms;
  const now = turns.at(-1);
  if (now === undefined) return { key, life: usual.life };
  // What was kept for longer is counted as lost, so that it is chosen again only as long as it pays.
  const pause = now[0].pause <= usual.life ? 0 : Number.POSITIVE_INFINITY;
  const costOf = (term: CacheTerm): number =>
    turnCost([{ ...now[0], pause }], term, rates) + EXPECTED * expectedCost(turns, term, rates);
  const cheapest = rates.terms.reduce((best, term) => (costOf(term) < costOf(best) ? term : best));
  // What is asked without a mark because nothing would read it is read soon after all if the model calls tools.
  return { key, life: cheapest.life === 0 && hasAnswer(entries, running) ? usual.life : cheapest.life };
}

/**
 * The mean cost of a turn such as these, and of one more after a short pause: three questions alone prove no habit. In
 * tokens at the usual price.
 */
function expectedCost(turns: readonly AskedTurn[], term: CacheTerm, rates: CacheRates): number {
  const [{ size, before }] = turns.at(-1) ?? [{ size: 1, before: 1 }];
  let sum = turnCost([{ size, before, pause: 0 }], term, rates);
  let weights = 1;
  for (const [index, turn] of [...turns].reverse().entries()) {
    const weight = FADING ** index;
    sum += weight * turnCost(turn, term, rates);
    weights += weight;
  }
  return sum / weights;
}

function turnCost([first, ...others]: AskedTurn, term: CacheTerm, rates: CacheRates): number {
  const [usual] = rates.terms;
  const later = others.map((one, index) => {
    if (term.life > 0) return requestCost(one, term, rates);
    return requestCost(index === 0 ? { ...one, before: 0 } : one, usual, rates);
  });
  return later.reduce((sum, cost) => sum + cost, requestCost(first, term, rates));
}

function requestCost({ size, before, pause }: Asked, { life, write }: CacheTerm, { read }: CacheRates): number {
  const kept = life > 0 && pause <= life ? Math.min(before, size) : 0;
  return read * kept + write * (size - kept);
}

/** The last turns and this one, as far as they are known, oldest first. */
function lately(entries: readonly Entry[], running: number | null): readonly AskedTurn[] {
  const turns = new Map<number, AskedTurn>();
  let [asked, pause]: [string | null, number] = [null, 0];
  let last: { readonly size: number; readonly at: string } | null = null;
  for (const { id, turn, role, at, usage } of newest(entries, running)) {
    // The output of a local command before a question asks nothing.
    if (id === turn) asked ??= at;
    if (last !== null && asked !== null) pause = Date.parse(asked) - Date.parse(last.at);
    if (role !== 'assistant') continue;
    // Where no usage is reported, every request counts the same.
    const size = usage?.input_tokens || 1;
    if (last !== null) turns.set(turn, joined(turns.get(turn), { size, before: last.size, pause }));
    [last, asked, pause] = [{ size, at }, null, 0];
  }
  const known = [...turns.values()];
  return last === null || asked === null ? known : [...known, [{ size: last.size, before: last.size, pause }]];
}

const joined = (turn: AskedTurn | undefined, next: Asked): AskedTurn => (turn === undefined ? [next] : [...turn, next]);

/** The messages of the last turns until the question of the running one. */
function newest(entries: readonly Entry[], running: number | null): readonly Message[] {
  const messages: Message[] = [];
  let questions = 0;
  for (let index = entries.length - 1; index >= 0 && questions <= MOST; index -= 1) {
    const entry = entries[index];
    if (entry === undefined || !isMessage(entry) || (running !== null && entry.id > running)) continue;
    messages.push(entry);
    if (entry.id === entry.turn) questions += 1;
  }
  return messages.reverse();
}

/** Whether the running turn already has an answer, one that called tools. */
const hasAnswer = (entries: readonly Entry[], running: number | null): boolean =>
  running !== null && entries.some((entry) => isMessage(entry) && entry.turn === running && entry.role === 'assistant');
