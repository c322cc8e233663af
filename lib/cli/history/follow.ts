import { setTimeout as sleep } from 'node:timers/promises';
import type { Entry } from '../../chat/entry.js';
import type { HistoryStore } from '../../history/store.js';

/** How often the file is looked at. Milliseconds. */
const PAUSE = 250;

/** The entries that are added from now on, by any process, until `signal` aborts. After a reset, those of the new conversation. */
export async function* followed(store: HistoryStore, signal: AbortSignal): AsyncGenerator<Entry> {
  let { name } = store;
  let last = store.entries.at(-1)?.id ?? 0;
  while (!signal.aborted) {
    await store.refresh();
    if (store.name !== name) {
      name = store.name;
      last = 0;
    }
    for (const entry of store.entries) {
      if (entry.id <= last) continue;
      last = entry.id;
      yield entry;
    }
    await sleep(PAUSE, undefined, { signal }).catch(() => undefined);
  }
}
