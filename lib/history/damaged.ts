/** The history file is not what was written. Never leaves this folder: the file is repaired. */
export class Damaged extends Error {
  override readonly name = 'Damaged';
}
