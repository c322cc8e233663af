import { progress } from '../base/long-work.js';
import type { ScannedFrame } from './scan-frames.js';

const WHAT = 'Checking the history';

type DataFrame = Extract<ScannedFrame, { readonly kind: 'data' }>;

/** Reports the progress of a check, as a share of the file size. */
export class FrameProgress {
  readonly #size: number;
  #frame: DataFrame | null = null;

  constructor(size: number) {
    this.#size = size;
  }

  /** Yields the frames and tracks which one is being processed. */
  *of(frames: Iterable<ScannedFrame>): Generator<ScannedFrame> {
    for (const frame of frames) {
      this.#frame = frame.kind === 'data' ? frame : null;
      yield frame;
    }
    progress(WHAT, this.#size, this.#size);
  }

  /** Reports that the check has reached this position in the content of the frame. */
  at(start: number): void {
    if (this.#frame === null) return;
    const { at, found } = this.#frame;
    const share = Math.max(0, start) / Math.max(1, found.content.length);
    // Never the full size, which would mean the end.
    progress(WHAT, Math.min(this.#size - 1, at + share * (found.next - at)), this.#size);
  }
}
