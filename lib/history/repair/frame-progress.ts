import { progress } from '../base/long-work.js';
import type { ScannedFrame } from './scan-frames.js';

const WHAT = 'Checking the history';

type DataFrame = Extract<ScannedFrame, { readonly kind: 'data' }>;

/** How far the check of a file of so many bytes is. */
export class FrameProgress {
  readonly #size: number;
  #frame: DataFrame | null = null;

  constructor(size: number) {
    this.#size = size;
  }

  /** The same frames, each of which is taken apart before the next. */
  *of(frames: Iterable<ScannedFrame>): Generator<ScannedFrame> {
    for (const frame of frames) {
      this.#frame = frame.kind === 'data' ? frame : null;
      yield frame;
    }
    progress(WHAT, this.#size, this.#size);
  }

  /** An element that begins there in the content of the frame. */
  at(start: number): void {
    if (this.#frame === null) return;
    const { at, found } = this.#frame;
    const share = Math.max(0, start) / Math.max(1, found.content.length);
    // Not the whole: that is the end.
    progress(WHAT, Math.min(this.#size - 1, at + share * (found.next - at)), this.#size);
  }
}
