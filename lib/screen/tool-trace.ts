import type { ChatEventOf } from '../chat/event.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../chat/json.js';
import { firstCharacters, newlinesIn } from '../chat/text.js';
import { shortCount } from '../chat/transcript.js';
import { shortTime } from './print.js';
import type { TerminalLayout } from './terminal-layout.js';
import { neutralise, visibleLine } from './text/neutralise.js';
import { DIM, RED } from './text/styled-text.js';

type CallEvent = ChatEventOf<'tool-start' | 'tool-progress' | 'tool-output' | 'tool-end'>;

/** What a trace needs from the screen's options. */
interface ToolTraceOptions {
  now(): number;
  readonly describe?: (name: string, args: JsonObject) => string;
  readonly found?: (result: JsonValue) => string;
}

/** How much of a call's output is shown. The model reads more, but the transcript stays readable. */
const SHOWN_LINES = 12;
const SHOWN_CHARACTERS = 2000;

/** The maximum length of a line about a call: arguments from the model must not flood the transcript. */
const LINE_LENGTH = 160;

/**
 * A call that has printed nothing for this long is announced. A question that shows the whole call may come before.
 * Milliseconds.
 */
const SILENCE = 1000;

/** The time of a shorter call is not shown. Milliseconds. */
const SECOND = 1000;

/** How a notice about a call that was refused begins. */
const NOT_RUN = 'Not run';

interface RunningCall {
  readonly described: string;
  /** Whether a notice has said why it does not run. */
  isExplained: boolean;
  startedAt: number;
  lines: number;
  shownLines: number;
  shownCharacters: number;
}

/** Logs tool calls: a line at the start, the first lines of output, and the outcome. */
export class ToolTrace {
  readonly #layout: TerminalLayout;
  readonly #options: ToolTraceOptions;
  readonly #running = new Map<string, RunningCall>();
  readonly #mayAsk: boolean;
  /** The line about the call that started last, until it is written. */
  #unwritten: string | null = null;
  #timer: NodeJS.Timeout | undefined;

  /**
   * With `mayAsk`, a question about a call may be shown on the same terminal, and then only the question shows the
   * call.
   */
  constructor(layout: TerminalLayout, options: ToolTraceOptions, mayAsk: boolean) {
    this.#layout = layout;
    this.#options = options;
    this.#mayAsk = mayAsk;
  }

  show(event: CallEvent): void {
    if (event.type === 'tool-start') this.#start(event);
    else if (event.type === 'tool-progress') this.#progress(event);
    else if (event.type === 'tool-output') this.#output(event);
    else this.#end(event);
  }

  #start({ call_id, name, args }: ChatEventOf<'tool-start'>): void {
    const { describe = describeByArguments } = this.#options;
    const described = describe(name, args);
    const startedAt = this.#options.now();
    const call = { described, isExplained: false, startedAt, lines: 0, shownLines: 0, shownCharacters: 0 };
    this.#running.set(call_id, call);
    this.announce();
    this.#unwritten = `▸ ${oneLine(described)}`;
    if (this.#mayAsk) this.#timer = setTimeout(() => this.announce(), SILENCE).unref();
    else this.announce();
    const lines = (): string => (call.lines === 0 ? '' : ` · ${lineCount(call.lines)}`);
    this.#layout.wait({ delay: 0, text: () => `${oneLine(name)} · ${this.#timeOf(call)}${lines()}` });
  }

  /** Writes the line about the call that started last, unless it is already written. */
  announce(): void {
    clearTimeout(this.#timer);
    if (this.#unwritten !== null) this.#layout.logLine(this.#unwritten, DIM);
    this.#unwritten = null;
  }

  #output({ call_id, text, lines }: ChatEventOf<'tool-output'>): void {
    const call = this.#running.get(call_id);
    if (call === undefined) return;
    const head = headOf(text, SHOWN_LINES - call.shownLines, SHOWN_CHARACTERS - call.shownCharacters);
    call.lines += lines;
    call.shownLines += newlinesIn(head);
    call.shownCharacters += head.length;
    this.#layout.writeLog(neutralise(head), DIM);
  }

  /** Shows the progress of a call next to its elapsed time. */
  #progress({ call_id, text }: ChatEventOf<'tool-progress'>): void {
    const call = this.#running.get(call_id);
    if (call !== undefined) this.#layout.wait({ delay: 0, text: () => `${oneLine(text)} · ${this.#timeOf(call)}` });
  }

  /** A notice is shown: what it says about a call is not said again when that call ends. */
  explain(notice: string): void {
    for (const call of this.#running.values()) call.isExplained ||= notice.startsWith(`${NOT_RUN}: ${call.described} `);
  }

  #end({ call_id, name, error, result }: ChatEventOf<'tool-end'>): void {
    const call = this.#running.get(call_id);
    this.#running.delete(call_id);
    this.#layout.wait(null);
    const time = call === undefined || this.#options.now() - call.startedAt < SECOND ? '' : ` · ${this.#timeOf(call)}`;
    const hidden = call === undefined ? 0 : call.lines - call.shownLines;
    if (hidden > 0) this.#layout.logLine(`… ${lineCount(hidden, 'more ')}`, DIM);
    const why = call?.isExplained ? NOT_RUN.toLowerCase() : oneLine(error ?? '');
    if (error !== undefined) this.#layout.logText(`✗ ${oneLine(name)}${time} · ${why}`, RED);
    else this.#layout.logLine(`${markOf(result)} ${oneLine(name)}${this.#foundBy(call, result)}${time}`, DIM);
  }

  #foundBy(call: RunningCall | undefined, result: JsonValue | undefined): string {
    const found = result === undefined ? '' : (this.#options.found?.(result) ?? '');
    if (found !== '') return ` · ${found}`;
    return call === undefined || call.lines === 0 ? '' : ` · ${lineCount(call.lines)}`;
  }

  /**
   * Stops the clocks of running calls while the user is asked, until the returned function is called. The question
   * shows the call.
   */
  pause(): () => void {
    clearTimeout(this.#timer);
    this.#unwritten = null;
    const from = this.#options.now();
    return () => {
      for (const call of this.#running.values()) call.startedAt += this.#options.now() - from;
    };
  }

  #timeOf(call: RunningCall): string {
    return shortTime(this.#options.now() - call.startedAt);
  }
}

/** A command that failed is no error of the call: the model reads its output. But nobody should take it for done. */
function markOf(result: JsonValue | undefined): string {
  return isJsonObject(result) && typeof result.exit_code === 'number' && result.exit_code !== 0 ? '✗' : '✓';
}

/** Falls back to the name and the arguments. */
function describeByArguments(name: string, args: JsonObject): string {
  const [first, ...more] = Object.values(args);
  return `${name} ${more.length === 0 && typeof first === 'string' ? first : JSON.stringify(args)}`;
}

function oneLine(text: string): string {
  const end = text.indexOf('\n');
  const whole = visibleLine(firstCharacters(end === -1 ? text : text.slice(0, end), LINE_LENGTH));
  const line = firstCharacters(whole, LINE_LENGTH);
  return end !== -1 || text.length > LINE_LENGTH || line.length < whole.length ? `${line}…` : line;
}

function headOf(text: string, lines: number, characters: number): string {
  if (lines <= 0 || characters <= 0) return '';
  let end = -1;
  for (let line = 0; line < lines; line += 1) {
    end = text.indexOf('\n', end + 1);
    if (end === -1) return firstCharacters(text, characters);
  }
  return firstCharacters(text, Math.min(end + 1, characters));
}

const lineCount = (lines: number, which = ''): string =>
  `${shortCount(lines)} ${which}${lines === 1 ? 'line' : 'lines'}`;
