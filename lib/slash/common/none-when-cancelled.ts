import { isAbort } from '../../errors.js';

/** To cancel a choice is to choose nothing: nothing was begun that could be interrupted. */
export function noneWhenCancelled(thrown: unknown): null {
  if (isAbort(thrown)) return null;
  throw thrown;
}
