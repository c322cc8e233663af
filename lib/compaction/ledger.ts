import { FACT_KINDS, type Fact } from '../view/block-state.js';

/** The longest line a fact may be. */
const LINE = 240;

/** Facts and how many had to go for want of room. */
export interface Ledger {
  readonly facts: readonly Fact[];
  readonly forgotten: number;
}

/**
 * The facts carried on: those before, less the ones declared outdated by number, with the new ones. A fact that comes again keeps its place and takes its
 * new kind. When they are more than `room` characters, the oldest of the least lasting kind go first, and are counted.
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
  for (const { kind, text } of added) {
    const line = oneLine(text);
    if (line !== '') facts.set(keyOf(line), { kind, text: line });
  }
  const kept = [...facts.values()];
  let forgotten = before.forgotten;
  while (kept.length > 0 && sizeOf(kept) > room) {
    kept.splice(leastLasting(kept), 1);
    forgotten += 1;
  }
  return { facts: kept, forgotten };
}

/** The facts as the model that writes the next summary sees them. */
export function numberedFacts(facts: readonly Fact[]): string {
  return facts.map(({ kind, text }, index) => `${index + 1}. ${kind}: ${text}`).join('\n');
}

/** The facts as the model that goes on with the conversation sees them. */
export function listed(facts: readonly Fact[]): string {
  return facts.map(({ kind, text }) => `- ${kind}: ${text}`).join('\n');
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
