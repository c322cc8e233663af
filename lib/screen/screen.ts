import type { ChatEvent } from '../chat/event.js';
import type { JsonObject } from '../chat/json.js';
import type { Usage } from '../chat/message.js';
import { compactionLine, shortCount } from '../chat/transcript.js';
import { monotonic } from '../clock.js';
import { type HiError, unreachable } from '../errors.js';
import { type CreateAnswerWriter, createAnswerWriter } from './answer-writer.js';
import { errorText, shortTime } from './print.js';
import { createNeutraliser, neutralise } from './sanitize.js';
import { DIM, PLAIN, RED, YELLOW } from './style.js';
import { createTerminalLayout, FRAME, type OutputStreams } from './terminal-layout.js';
import { createTrace } from './tool-trace.js';

export type { OutputStreams } from './terminal-layout.js';

/** How a screen shows what happens. */
export interface ScreenOptions {
  /** Only answers, warnings and errors. */
  readonly quiet: boolean;
  /** How answers are styled where `paper.out` has colour (`createStyledAnswer`); null leaves them plain. */
  readonly styled: CreateAnswerWriter | null;
  /** Whether what the model thinks is shown, dimmed; otherwise it is only counted. */
  readonly thinking: boolean;
  /** Whether it says what requests took. */
  readonly usage?: boolean;
  /** Whether a terminal gets a waiting line; it does when absent. */
  readonly waiting?: boolean;
  now(): number;
  /** Whether an answer into a pipe ends as the model ended it, so that the bytes there are the answer and nothing else; otherwise its last line is ended. */
  readonly exact?: boolean;
  /** One line that says what a tool call does; without it the name and the arguments. */
  readonly describe?: (name: string, args: JsonObject) => string;
}

/** The last reader of a turn: events become text on two streams. */
export interface Screen {
  /** Shows one event. Never fails and never waits: who produces without end should use `follow`, or await `flush` now and then. */
  show(event: ChatEvent): void;
  /** Shows every event as it comes, no faster than the streams take them. Rejects with what the events reject with. */
  follow(events: AsyncIterable<ChatEvent>): Promise<void>;
  /** Resolves when all that was shown has been taken by the streams. */
  flush(): Promise<void>;
  /** Shows what went wrong and what to try next. */
  error(error: HiError): void;
  notice(text: string, level: 'info' | 'warning'): void;
  /** Leaves the terminal to somebody else (a question, an editor), at the start of a line, until the returned function is called. */
  yield(): () => void;
  /** Removes the waiting line and ends an unfinished line; whatever comes next begins at the left edge. Can be shown on again. */
  close(): void;
}

/** A screen on this paper. Everything that comes from models and tools is neutralised where it reaches a terminal. */
export function createScreen(streams: OutputStreams, options: ScreenOptions): Screen {
  const layout = createTerminalLayout(streams, options);
  const answer = createAnswerWriter(streams, layout, options.styled);
  const trace = createTrace(layout, options);
  const thinking = createNeutraliser();
  const clean = (text: string): string => (streams.errIsTerminal ? neutralise(text) : text);
  let characters = 0;
  const frame = streams.outIsTerminal ? FRAME : 0;
  let held = '';
  let timer: NodeJS.Timeout | null = null;
  let shownAt = Number.NEGATIVE_INFINITY;

  /** Takes a piece of the answer. What comes within one frame is styled at once, which costs a fraction of styling every piece. */
  function take(piece: string): void {
    if (characters === 0) waitFor('answering', tokensSoFar, 1000);
    characters += piece.length;
    held += piece;
    if (timer !== null) return;
    const wait = shownAt + frame - monotonic();
    if (frame === 0 || wait <= 0) settle();
    else timer = setTimeout(settle, wait);
  }

  /** Shows what is held of the answer; before anything else is shown. */
  function settle(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (held === '') return;
    const text = held;
    held = '';
    shownAt = monotonic();
    answer.push(text);
  }

  /** A line that interrupts whatever is being written. */
  function interject(text: string, style: string): void {
    answer.pause();
    layout.line(clean(text), style);
  }

  function waitFor(what: string, progress: () => string, timeout: number): void {
    if (options.quiet) return;
    const since = options.now();
    layout.wait({ timeout, words: () => `${clean(what)} · ${shortTime(options.now() - since)}${progress()}` });
  }

  const tokensSoFar = (): string => (characters === 0 ? '' : ` · ${shortCount(Math.ceil(characters / 4))} tokens`);

  function show(event: ChatEvent): void {
    if (event.type === 'text') take(event.text);
    else {
      settle();
      showOther(event);
    }
  }

  function showOther(event: Exclude<ChatEvent, { type: 'text' }>): void {
    switch (event.type) {
      case 'waiting':
        waitFor(event.what, () => '', 0);
        break;
      case 'request':
        characters = 0;
        waitFor(event.model, tokensSoFar, 0);
        break;
      case 'thinking':
        if (characters === 0) waitFor('thinking', tokensSoFar, options.thinking ? 1000 : 0);
        characters += event.text.length;
        if (options.thinking && !options.quiet)
          layout.aside(streams.errIsTerminal ? thinking.push(event.text) : event.text, DIM);
        break;
      case 'retry':
        retry(event.attempt, event.delay, event.reason);
        break;
      case 'tool-start':
        answer.end();
        trace.start(event);
        break;
      case 'tool-output':
        trace.output(event);
        break;
      case 'tool-end':
        trace.end(event);
        break;
      case 'compact-start':
        characters = 0;
        waitFor(`compacting ${event.messages} messages (${event.strategy})`, written, 0);
        break;
      case 'compact-progress':
        characters = event.characters;
        break;
      case 'compact':
        layout.wait(null);
        if (!options.quiet) interject(compactionLine(event), DIM);
        break;
      case 'usage':
        if (options.usage) notice(usageLine(event, 'for the summary'), 'info');
        break;
      case 'skills':
        if (!options.quiet && event.loaded.length + event.dropped.length > 0)
          interject(`skills: ${skillChanges(event.loaded, event.dropped)}`, DIM);
        break;
      case 'notice':
        notice(event.text, event.level);
        break;
      case 'print':
        answer.end();
        layout.answer(streams.outIsTerminal ? neutralise(event.text) : event.text);
        break;
      case 'turn-end':
        layout.wait(null);
        answer.end();
        if (options.usage) notice(usageLine(event, `${shortCount(event.usage.context_tokens)} in context`), 'info');
        if (event.stop_reason === 'interrupted') interject('(interrupted)', DIM);
        if (event.stop_reason === 'length')
          notice('The answer was cut off at the longest the model may write.', 'warning');
        break;
      default:
        unreachable(event);
    }
  }

  const written = (): string => (characters === 0 ? '' : ` · ${shortCount(characters)} characters`);

  function retry(attempt: number, delay: number, reason: string): void {
    answer.end();
    if (options.quiet) return;
    if (!streams.errIsTerminal) layout.line(`Trying again in ${shortTime(delay)} (${attempt}): ${reason}`, DIM);
    const due = options.now() + delay;
    const left = (): string => shortTime(Math.max(0, due - options.now()));
    layout.wait({ timeout: 0, words: () => clean(`trying again in ${left()} (${attempt}): ${reason}`) });
  }

  function notice(text: string, level: 'info' | 'warning'): void {
    if (level === 'warning') interject(text, YELLOW);
    else if (!options.quiet) interject(text, DIM);
  }

  return {
    show,
    async follow(events) {
      for await (const event of events) {
        if (event.type !== 'text') {
          settle();
          // What was held may begin code, whose colours are loaded before the answer ends.
          if (answer.loading !== null) await answer.loading;
        }
        show(event);
        if (answer.loading !== null) await answer.loading;
        if (layout.isFull()) await layout.drained();
      }
    },
    flush() {
      settle();
      return layout.drained();
    },
    error(error) {
      settle();
      layout.wait(null);
      answer.end();
      layout.line(clean(errorText(error)), streams.colour.err ? RED : PLAIN);
    },
    notice(text, level) {
      settle();
      notice(text, level);
    },
    yield() {
      settle();
      answer.pause();
      const [resumePage, resumeClocks] = [layout.yield(), trace.hold()];
      return () => {
        resumePage();
        resumeClocks();
      };
    },
    close() {
      settle();
      answer.end();
      layout.close();
    },
  };
}

function usageLine(told: { provider: string; model: string; usage: Usage }, purpose: string): string {
  const { provider, model, usage } = told;
  const cached = usage.cached_tokens > 0 ? ` (${shortCount(usage.cached_tokens)} cached)` : '';
  const tokens = `${shortCount(usage.input_tokens)} tokens in${cached} · ${shortCount(usage.output_tokens)} out`;
  return `${provider}/${model} · ${tokens} · ${purpose}`;
}

function skillChanges(loaded: readonly string[], dropped: readonly string[]): string {
  return [...loaded.map((name) => `+${name}`), ...dropped.map((name) => `-${name}`)].join(' ');
}
