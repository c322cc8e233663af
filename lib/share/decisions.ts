import type { DecisionItem } from './items.js';

/** What was decided about a subject, and how much of it was done with. */
export interface Decision {
  /** The newest decision by any machine. */
  readonly item: DecisionItem;
  /** What holds here. */
  readonly here: boolean;
  /** Whether a file in the folder of this machine, or of the one that decided, has it. */
  readonly sent: boolean;
}

/** The newest decision about each subject, by `subjectOf`. */
export type Decisions = Readonly<Record<string, Decision>>;

/** What a decision is about, the same on every machine. */
export function subjectOf(item: DecisionItem): string {
  switch (item.kind) {
    case 'undo':
      return `undo ${item.turn}`;
    case 'pin':
      return `pin ${item.message.join(' ')}`;
    case 'line':
      return `line ${item.line}`;
  }
}

/**
 * Whether a decision beats another: by its counter, and at the same count because it says `true`. No clock is asked.
 */
export function beats(one: DecisionItem, other: DecisionItem | undefined): boolean {
  return other === undefined || one.v > other.v || (one.v === other.v && one.value && !other.value);
}

/** The decisions after one that was made here. The counter is one higher than any that is known. */
export function decidedHere(decisions: Decisions, item: DecisionItem): Decisions {
  const subject = subjectOf(item);
  const v = (decisions[subject]?.item.v ?? 0) + 1;
  return { ...decisions, [subject]: { item: { ...item, v }, here: item.value, sent: false } };
}

/** The decisions after one that was taken in before: it holds here. */
export function decidedThere(decisions: Decisions, item: DecisionItem): Decisions {
  const subject = subjectOf(item);
  const known = decisions[subject];
  const isNewer = beats(item, known?.item);
  const kept = known === undefined || isNewer ? item : known.item;
  return { ...decisions, [subject]: { item: kept, here: item.value, sent: isNewer || known?.sent === true } };
}

/** The decisions after one was read in a file. It does not hold here before it was carried out. */
export function withReceived(decisions: Decisions, item: DecisionItem): Decisions {
  const subject = subjectOf(item);
  const known = decisions[subject];
  if (!beats(item, known?.item)) {
    const isSame = known?.item.v === item.v && known.item.value === item.value;
    return isSame && known.sent === false ? { ...decisions, [subject]: { ...known, sent: true } } : decisions;
  }
  return { ...decisions, [subject]: { item, here: known?.here ?? false, sent: true } };
}

/** The decisions that do not hold here yet. */
export function waitingDecisions(decisions: Decisions): readonly DecisionItem[] {
  return Object.values(decisions).flatMap(({ item, here }) => (item.value === here ? [] : [item]));
}

/** The decisions that no file has. */
export function unsentDecisions(decisions: Decisions): readonly DecisionItem[] {
  return Object.values(decisions).flatMap(({ item, sent }) => (sent ? [] : [item]));
}
