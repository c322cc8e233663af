import truncatedWidth from 'fast-string-truncated-width';

/** What is being waited for, in words, asked anew each time the line is drawn. */
export interface Waiting {
  readonly words: () => string;
  /** How long nothing may be written before the line shows, in milliseconds: more while text is arriving, for it would flicker. */
  readonly timeout: number;
}

/** The line that says what is going on, drawn over and over in one place and gone without a trace. */
export interface WaitingLine {
  /** Waits for something else, or for nothing. Returns what removes the old words. */
  change(waiting: Waiting | null): string;
  /** Returns what removes the line from the terminal, empty when it is not there. Time counts from now. */
  erase(): string;
}

/** What the line needs to know of the place where it is drawn. */
export interface WaitingPlace {
  now(): number;
  columns(): number;
  /** Whether the cursor is where a line may be drawn. */
  isFree(): boolean;
  draw(text: string): void;
}

const FRAMES = [...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'];
const INTERVAL = 100;

/** A waiting line that waits for nothing yet. Its timer never keeps the process alive. */
export function createWaitingLine(place: WaitingPlace): WaitingLine {
  let waiting: Waiting | null = null;
  let timer: NodeJS.Timeout | null = null;
  let drawn = false;
  let frame = 0;
  let quietSince = 0;

  function tick(): void {
    if (waiting === null || !place.isFree() || place.now() - quietSince < waiting.timeout) return;
    frame = (frame + 1) % FRAMES.length;
    const words = waiting.words();
    // One column stays free: a line as wide as the terminal would wrap, and erasing removes one row only.
    const { index } = truncatedWidth(words, { limit: Math.max(1, place.columns() - 3), ellipsis: '' });
    drawn = true;
    place.draw(`\r${FRAMES[frame]} ${words.slice(0, index)}\x1b[K`);
  }

  function erase(): string {
    quietSince = place.now();
    if (!drawn) return '';
    drawn = false;
    return '\r\x1b[K';
  }

  return {
    change(next) {
      waiting = next;
      if (waiting === null && timer !== null) {
        clearInterval(timer);
        timer = null;
      }
      if (waiting !== null) timer ??= setInterval(tick, INTERVAL).unref();
      return erase();
    },
    erase,
  };
}
