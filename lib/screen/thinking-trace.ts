import { shortTime } from './print.js';
import type { ScreenOptions } from './screen-options.js';
import type { TerminalLayout } from './terminal-layout.js';
import { Neutraliser } from './text/neutralise.js';
import { DIM } from './text/style.js';

/** Logs the model's thinking: as it arrives, or folded into one line when it ends. */
export class ThinkingTrace {
  readonly #layout: TerminalLayout;
  readonly #options: ScreenOptions;
  readonly #isTerminal: boolean;
  readonly #shown = new Neutraliser();
  /** When the model started thinking; null while it does not. */
  #since: number | null = null;

  constructor(layout: TerminalLayout, options: ScreenOptions, isTerminal: boolean) {
    this.#layout = layout;
    this.#options = options;
    this.#isTerminal = isTerminal;
  }

  add(text: string): void {
    this.#since ??= this.#options.now();
    if (this.#options.thinking === true && !this.#options.quiet)
      this.#layout.writeLog(this.#isTerminal ? this.#shown.push(text) : text, DIM);
  }

  end(): void {
    const since = this.#since;
    this.#since = null;
    if (since === null || this.#options.thinking !== 'folded' || this.#options.quiet) return;
    this.#layout.logLine(`thought for ${shortTime(this.#options.now() - since)} · /think show`, DIM);
  }
}
