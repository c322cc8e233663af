/** How soon the second press must follow, in milliseconds. */
const WINDOW = 2000;

/** Detects that a key is pressed twice. */
export class PressedTwice {
  #pressedAt = Number.NEGATIVE_INFINITY;

  /** Records a press; true when it is the second. */
  press(): boolean {
    const now = performance.now();
    const isSecond = now - this.#pressedAt <= WINDOW;
    this.#pressedAt = isSecond ? Number.NEGATIVE_INFINITY : now;
    return isSecond;
  }

  /** Another key was pressed. */
  reset(): void {
    this.#pressedAt = Number.NEGATIVE_INFINITY;
  }
}
