import type { Session } from '../../session/session.js';

/** How long a pause between two turns is worked in, and how long the user may have to wait for a key. Milliseconds. */
const PAUSE = 200;
const SLICE = 20;

/** Indexes a little of what is not indexed yet, and then finds out when to recall something unasked. Never throws: a search says what is missing. */
export async function indexSlice(session: Session): Promise<void> {
  try {
    const finder = await session.finder();
    for (let spent = 0; spent < PAUSE; spent += SLICE) {
      if ((await finder.catchUp(SLICE)) === 0 && (await finder.calibrate(SLICE))) return;
      await new Promise((resolve) => setImmediate(resolve));
    }
  } catch {
    // A disk that is full or a history that is damaged is reported by whatever uses it next.
  }
}
