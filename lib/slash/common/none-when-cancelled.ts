import { isAbort } from '../../errors.js';

/** Turns a cancelled choice into null: nothing was started that could be interrupted. */
export function noneWhenCancelled(thrown: unknown): null {
  if (isAbort(thrown)) return null;
  throw thrown;
}
