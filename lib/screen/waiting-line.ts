import truncatedWidth from 'fast-string-truncated-width';

/** What the program waits for. */
export interface Waiting {
  /** The text of the line; called each time it is drawn. */
  readonly text: () => string;
  /** How long output must pause before the line appears, in milliseconds. Without a delay it would flicker between pieces of arriving text. */
  readonly delay: number;
}

/** The terminal a waiting line is drawn on. */
export interface WaitingLineTerminal {
  now(): number;
  columns(): number;
  isAnimated(): boolean;
  /** Whether the cursor is where a line may be drawn. */
  canDraw(): boolean;
  draw(text: string): void;
}

const FRAMES = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];
const INTERVAL = 100;
/** How often the line is drawn without animation, in milliseconds, and what it starts with. */
const STILL_INTERVAL = 1000;
const STILL_MARK = '·';

/** A line with a spinner that says what the program is waiting for. It is drawn in place and leaves no trace. Its timer does not keep the process alive. */
export class WaitingLine {
  readonly #terminal: WaitingLineTerminal;
  #waiting: Waiting | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isDrawn = false;
  #frame = 0;
  #quietSince = 0;
  #drawnAt = 0;

  constructor(terminal: WaitingLineTerminal) {
    this.#terminal = terminal;
  }

  /** Waits for something else, or for nothing. Returns the sequence that erases the old text. */
  change(waiting: Waiting | null): string {
    this.#waiting = waiting;
    if (waiting !== null) this.#timer ??= setInterval(() => this.#tick(), INTERVAL).unref();
    else if (this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
    }
    return this.erase();
  }

  /** Returns the sequence that erases the line; empty if it is not drawn. Restarts the delay. */
  erase(): string {
    this.#quietSince = this.#terminal.now();
    if (!this.#isDrawn) return '';
    this.#isDrawn = false;
    return '\r\x1b[K';
  }

  #tick(): void {
    if (this.#waiting === null || !this.#terminal.canDraw()) return;
    if (this.#terminal.now() - this.#quietSince < this.#waiting.delay) return;
    const isAnimated = this.#terminal.isAnimated();
    if (!isAnimated && this.#isDrawn && this.#terminal.now() - this.#drawnAt < STILL_INTERVAL) return;
    this.#drawnAt = this.#terminal.now();
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const text = this.#waiting.text();
    // Leaves one column free: a line as wide as the terminal would wrap, and erasing clears only one row.
    const { index } = truncatedWidth(text, { limit: Math.max(1, this.#terminal.columns() - 3), ellipsis: '' });
    this.#isDrawn = true;
    this.#terminal.draw(`\r${isAnimated ? FRAMES[this.#frame] : STILL_MARK} ${text.slice(0, index)}\x1b[K`);
  }
}
