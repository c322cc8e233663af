/** Receives the progress of a long operation. At the end `done` equals `all`. */
export type ProgressListener = (what: string, done: number, all: number) => void;

/** Operations on the file are synchronous, so there is only one at a time. */
let listener: ProgressListener | null = null;

/** Sets the listener; null for none. */
export function listenToProgress(next: ProgressListener | null): void {
  listener = next;
}

/** Reports progress. Operations that may take long call it for every piece. */
export function progress(what: string, done: number, all: number): void {
  if (listener !== null) listener(what, done, all);
}

/** Yields the groups and reports progress towards the entry with the id `last`; `what` names the operation. */
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
