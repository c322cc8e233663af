import { citing } from '../chat/marked-text.js';
import { FACT_KINDS, type Fact } from '../view/block-state.js';

/** The most characters of a fact. */
const LINE = 240;
/** The most ids of messages behind a fact; the newest are kept. */
const MOST_IDS = 5;

/** Facts, and how many were dropped for lack of room. */
export interface Ledger {
  readonly facts: readonly Fact[];
  readonly forgotten: number;
}

/**
 * The previous facts without those declared outdated by number, followed by the new ones. A repeated fact keeps its place, gets its new kind, and keeps
 * the ids of all its messages.
 * Beyond `room` characters, the oldest facts of the least important kind are dropped first, and counted.
 */
export function mergeLedgers(
  before: Ledger,
  added: readonly Fact[],
  outdated: readonly number[],
  room: number,
): Ledger {
  const facts = new Map<string, Fact>();
  before.facts.forEach((fact, index) => {
    if (!outdated.includes(index + 1)) facts.set(keyOf(fact.text), fact);
  });
  for (const { kind, text, ids = [] } of added) {
    const line = oneLine(text);
    const key = keyOf(line);
    const all = [...new Set([...(facts.get(key)?.ids ?? []), ...ids])].slice(-MOST_IDS);
    if (line !== '') facts.set(key, { kind, text: line, ...(all.length > 0 && { ids: all }) });
  }
  const kept = [...facts.values()];
  let forgotten = before.forgotten;
  while (kept.length > 0 && sizeOf(kept) > room) {
    kept.splice(leastLasting(kept), 1);
    forgotten += 1;
  }
  return { facts: kept, forgotten };
}

/** The facts as shown to the model that writes the next summary. */
export function numberedFacts(facts: readonly Fact[]): string {
  return facts.map(({ kind, text, ids }, index) => `${index + 1}. ${kind}: ${citing(text, ids)}`).join('\n');
}

/** The facts as shown to the model that continues the conversation. */
export function listed(facts: readonly Fact[]): string {
  return facts.map(({ kind, text, ids }) => `- ${kind}: ${citing(text, ids)}`).join('\n');
}

function leastLasting(facts: readonly Fact[]): number {
  for (const kind of FACT_KINDS) {
    const found = facts.findIndex((fact) => fact.kind === kind);
    if (found >= 0) return found;
  }
  return 0;
}

const sizeOf = (facts: readonly Fact[]): number => listed(facts).length;

const keyOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[\s.,;:!]+/g, ' ')
    .trim();

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return [...line].slice(0, LINE).join('');
}
