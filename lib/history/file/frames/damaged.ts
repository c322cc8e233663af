/** The history file is damaged. Never leaves `lib/history`, which repairs the file. */
export class Damaged extends Error {
  override readonly name: string = 'Damaged';
}

/** The history file is one intact array, but some of its elements lack fields or are out of order. */
export class Unordered extends Damaged {
  override readonly name = 'Unordered';
}
