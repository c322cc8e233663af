import { KINDS, type Kind } from '../index/part.js';

/** What is looked for, apart from the words. */
export interface Bounds {
  /** Whose words are wanted, null for anyone's. */
  readonly kinds: readonly Kind[] | null;
  /** The first and the last day, since 1970, null if there is none. */
  readonly from: number | null;
  readonly until: number | null;
  /** Whether what those do not say counts for nothing: not beside their words either, nor for how rare a word is. */
  readonly alone?: boolean;
  /** Only documents of which it is so sure: see `certainty`. */
  readonly certain?: number;
  /** Only documents with a smaller number. */
  readonly below?: number;
  /** Called now and then; throws when there is no more time. */
  check?(): void;
  /** How much more the words of some kinds count. */
  readonly favour: Readonly<Partial<Record<Kind, number>>>;
}

/** What the user and the model said. */
export const SAID: readonly Kind[] = ['user', 'attached', 'model', 'foreign'];

/** What a tool printed is seldom what was meant. */
const PRINTED = 0.6;

/** By the number of a kind, whether it is wanted. */
export function wantedKinds({ kinds }: Pick<Bounds, 'kinds'>): readonly boolean[] {
  return KINDS.map((kind) => kinds === null || kinds.includes(kind));
}

/** How much what one says counts. */
export function favourOf(kind: Kind, { favour }: Bounds): number {
  return (favour[kind] ?? 1) * (kind === 'tool' || kind === 'note' ? PRINTED : 1);
}
