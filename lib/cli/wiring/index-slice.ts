import type { Session } from '../../session/session.js';
import { monotonic } from '../../waits.js';

/** How long to work in a pause between two turns, and how long a key may have to wait. Milliseconds. */
const PAUSE = 200;
const SLICE = 20;

/** Indexes a few new messages, and then calibrates automatic recall. Never throws: a search reports what is missing. */
export async function indexSlice(session: Session): Promise<void> {
  try {
    const finder = await session.indexed();
    // By the clock: one long message may take many slices' time.
    for (const end = monotonic() + PAUSE; monotonic() < end; ) {
      if ((await finder.catchUp(SLICE)) === 0 && (await finder.calibrate(SLICE))) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  } catch {
    // A disk that is full or a history that is damaged is reported by whatever uses it next.
  }
}
