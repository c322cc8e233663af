import type { RecoveredFrame } from '../file/frames/recover-frame.js';

/** Why an element can be trusted: a checksum covers it; there is none, but everything around it fits together; or neither. */
export type Trust = 'checked' | 'plain' | 'none';

/** The trust of the content of a frame up to `end`. */
export function trustOf(found: RecoveredFrame, end: number): Trust {
  if (found.isIntact) return found.isVerified ? 'checked' : 'plain';
  return end <= found.intactLength ? 'checked' : 'none';
}

/** The lower one of two. */
export function leastTrust(one: Trust, other: Trust): Trust {
  if (one === 'none' || other === 'none') return 'none';
  return one === 'plain' || other === 'plain' ? 'plain' : 'checked';
}
