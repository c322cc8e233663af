/** The history file is not what was written. Never leaves this folder: the file is repaired. */
export class Damaged extends Error {
  override readonly name: string = 'Damaged';
}

/** The history file is one sound array, and some of its elements lack something, or are out of order. */
export class Unordered extends Damaged {
  override readonly name = 'Unordered';
}
