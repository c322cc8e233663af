import { KINDS, type Kind } from '../index/part.js';

/** The conditions of a search other than the words. */
export interface Bounds {
  /** The wanted kinds, null for all. */
  readonly kinds: readonly Kind[] | null;
  /** The first and the last day, counted from 1970, null for no limit. */
  readonly from: number | null;
  readonly until: number | null;
  /** Whether other kinds are ignored completely: as neighbours too, and for the rarity of words. */
  readonly alone?: boolean;
  /** The minimum `certainty`. */
  readonly certain?: number;
  /** Only documents with a smaller number, and only those from this number on. */
  readonly below?: number;
  readonly above?: number;
  /** Called regularly; throws when the time is over. */
  check?(): void;
  /** Factors for the scores of some kinds. */
  readonly favour: Readonly<Partial<Record<Kind, number>>>;
}

/** The kinds of words by the user and the model. */
export const SAID: readonly Kind[] = ['user', 'attached', 'model', 'foreign'];

/** The factor for tool output, which is seldom what the user means. */
const PRINTED = 0.6;

/** By the index of a kind, whether it is wanted. */
export function wantedKinds({ kinds }: Pick<Bounds, 'kinds'>): readonly boolean[] {
  return KINDS.map((kind) => kinds === null || kinds.includes(kind));
}

/** The factor for a kind. */
export function favourOf(kind: Kind, { favour }: Bounds): number {
  return (favour[kind] ?? 1) * (kind === 'tool' || kind === 'note' ? PRINTED : 1);
}
