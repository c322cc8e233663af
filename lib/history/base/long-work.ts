/** Told how far long work is: all of it when it is over. */
export type ProgressListener = (what: string, done: number, all: number) => void;

/** Work on the file is synchronous, so one thing is going on at a time. */
let listener: ProgressListener | null = null;

/** From now on this one is told; null for nobody. */
export function listenToProgress(next: ProgressListener | null): void {
  listener = next;
}

/** Tells how far work is that may be long. It is called for every piece. */
export function progress(what: string, done: number, all: number): void {
  if (listener !== null) listener(what, done, all);
}

/** The same groups of entries, up to the one with the id `last`; `what` is going on meanwhile. */
export function* watched<Group extends readonly { readonly id: number }[]>(
  what: string,
  groups: Iterable<Group>,
  last: number,
): Generator<Group> {
  try {
    for (const entries of groups) {
      progress(what, entries[0]?.id ?? 0, last);
      yield entries;
    }
  } finally {
    progress(what, last, last);
  }
}
