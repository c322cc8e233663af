import type { ChatEventOf, ScreenSettings } from '../chat/event.js';
import { quantity } from '../chat/text.js';
import { shortCount } from '../chat/transcript.js';
import { unreachable } from '../errors.js';
import { currentWait } from '../waits.js';
import type { ScreenOptions } from './answer-writer.js';
import { shortTime, waitText } from './print.js';
import type { TerminalLayout } from './terminal-layout.js';
import { Neutraliser, neutralise } from './text/neutralise.js';
import { DIM } from './text/styled-text.js';

/** What a status needs from the screen's options. */
interface WaitingStatusOptions {
  readonly quiet: boolean;
  readonly settings?: Readonly<ScreenSettings>;
  /** Whether what is waited for is shown at all. */
  readonly waiting: boolean;
  now(): number;
}

/** Events that only change what the waiting line says. */
type WaitingEvent = ChatEventOf<'waiting' | 'request' | 'compact-start' | 'compact-progress'>;

/** How long an answer must pause before the waiting line appears below it, in milliseconds. */
const PAUSE = 1000;

/** Shows on the waiting line what the program is waiting for, for how long, and how much has arrived. */
export class WaitingStatus {
  readonly #layout: TerminalLayout;
  readonly #options: WaitingStatusOptions;
  readonly #heldLines: () => number;
  readonly #endAnswer: () => void;
  #characters = 0;

  constructor(layout: TerminalLayout, options: WaitingStatusOptions, answer: { heldLines(): number; end(): void }) {
    this.#layout = layout;
    this.#heldLines = answer.heldLines;
    this.#endAnswer = answer.end;
    this.#options = options;
  }

  /** Whatever is done next, it may take long. */
  begin(): void {
    this.#waitFor('working', PAUSE, () => '');
  }

  show(event: WaitingEvent): void {
    switch (event.type) {
      case 'waiting':
        this.#waitFor(event.what, 0, () => '');
        break;
      case 'request':
        this.#characters = 0;
        this.#waitFor(event.model, 0, this.#tokens);
        break;
      case 'compact-start':
        this.#characters = 0;
        this.#waitFor(`compacting ${event.messages} messages (${event.strategy})`, 0, this.#written);
        break;
      case 'compact-progress':
        this.#characters = event.characters;
        break;
      default:
        unreachable(event);
    }
  }

  /** Counts a piece of the answer. */
  countText(text: string): void {
    if (this.#characters === 0) this.#waitFor('answering', PAUSE, this.#tokens);
    this.#characters += text.length;
  }

  /** Counts a piece of the model's thinking. */
  countThinking(text: string, isShown: boolean): void {
    if (this.#characters === 0) this.#waitFor('thinking', isShown ? PAUSE : 0, this.#tokens);
    this.#characters += text.length;
  }

  /** Counts down to the next attempt of a request. */
  countDown({ attempt, delay, reason, next }: ChatEventOf<'retry'>): void {
    const due = this.#options.now() + delay;
    const left = (): string => shortTime(Math.max(0, due - this.#options.now()));
    const other = next === undefined ? '' : ` (Esc: '${next}' now)`;
    const text = (): string => neutralise(`retry ${attempt} in ${left()}${other}: ${reason}`);
    if (this.#saysOnce) this.#layout.logText(text(), DIM);
    else this.#layout.wait({ delay: 0, text });
  }

  #waitFor(what: string, delay: number, progress: () => string): void {
    if (this.#options.quiet) return;
    // Pauses of an answer are no state of their own.
    if (this.#saysOnce) {
      if (delay === 0) this.#layout.logText(neutralise(`waiting: ${what}`), DIM);
      return;
    }
    const since = this.#options.now();
    const own = (): string =>
      `${this.#held() ?? neutralise(what)} · ${shortTime(this.#options.now() - since)}${progress()}`;
    const text = (): string => {
      const wait = currentWait();
      return wait === null ? own() : waitText(wait);
    };
    const makeRoom = (): void => void (currentWait() !== null && this.#endAnswer());
    this.#layout.wait({ delay, text, makeRoom, isStill: () => currentWait()?.mayAsk === true });
  }

  /** Whether nothing is redrawn: each state is a line of its own. */
  get #saysOnce(): boolean {
    return this.#options.waiting && this.#options.settings?.waiting === 'none';
  }

  #held(): string | null {
    const lines = this.#heldLines();
    return lines === 0 ? null : `table · ${quantity(lines, 'row')}`;
  }

  readonly #tokens = (): string =>
    this.#characters === 0 ? '' : ` · ${shortCount(Math.ceil(this.#characters / 4))} tokens`;

  readonly #written = (): string => (this.#characters === 0 ? '' : ` · ${shortCount(this.#characters)} characters`);
}

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
