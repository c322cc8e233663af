/** How far the clock of this machine is ahead of UTC at a time, in minutes. */
export function offsetFromUtc(time: Date): number {
  // Not negated, because that makes another zero.
  return 0 - time.getTimezoneOffset();
}

/** Whether two times are on the same day by the clock of this machine. */
export function isSameDay(one: Date, other: Date): boolean {
  return one.toDateString() === other.toDateString();
}

/** A date whose UTC parts are what the clock of this machine shows at a time. */
export function asShownHere(time: Date): Date {
  return new Date(time.getTime() + offsetFromUtc(time) * 60_000);
}
