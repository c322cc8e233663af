import type { ChatEvent } from '../chat/event.js';
import type { JsonObject } from '../chat/json.js';
import { shortCount } from '../chat/transcript.js';
import { shortTime } from './print.js';
import { neutralise } from './sanitize.js';
import { DIM, RED } from './style.js';
import type { TerminalLayout } from './terminal-layout.js';

/** What tools do, beside the answer: a line when one starts, the head of its output, how it ended. */
export interface Trace {
  start(event: Extract<ChatEvent, { type: 'tool-start' }>): void;
  output(event: Extract<ChatEvent, { type: 'tool-output' }>): void;
  end(event: Extract<ChatEvent, { type: 'tool-end' }>): void;
  /** Stops the clocks of what runs, while the user is asked, until the returned function is called. */
  hold(): () => void;
}

/** What a trace takes from the screen's options. */
export interface TraceOptions {
  readonly quiet: boolean;
  now(): number;
  readonly describe?: (name: string, args: JsonObject) => string;
}

/** How much of one call's output is shown; the model reads more, the transcript stays readable. */
const SHOWN_LINES = 12;
const SHOWN_CHARACTERS = 2000;

interface Running {
  since: number;
  lines: number;
  shownLines: number;
  shownCharacters: number;
}

/** A trace on that page; silent when `quiet`. */
export function createTrace(layout: TerminalLayout, options: TraceOptions): Trace {
  const running = new Map<string, Running>();
  const describe = options.describe ?? describeByArguments;
  if (options.quiet) return { start() {}, output() {}, end() {}, hold: () => () => {} };

  return {
    start(event) {
      const call: Running = { since: options.now(), lines: 0, shownLines: 0, shownCharacters: 0 };
      running.set(event.call_id, call);
      layout.line(`▸ ${oneLine(describe(event.name, event.args))}`, DIM);
      const lines = (): string => (call.lines === 0 ? '' : ` · ${lineCount(call.lines)}`);
      const words = (): string => `${oneLine(event.name)} · ${shortTime(options.now() - call.since)}${lines()}`;
      layout.wait({ timeout: 0, words });
    },
    output(event) {
      const call = running.get(event.call_id);
      if (call === undefined) return;
      const head = headOf(event.text, SHOWN_LINES - call.shownLines, SHOWN_CHARACTERS - call.shownCharacters);
      call.lines += newlinesIn(event.text);
      call.shownLines += newlinesIn(head);
      call.shownCharacters += head.length;
      layout.aside(neutralise(head), DIM);
    },
    end(event) {
      const call = running.get(event.call_id);
      running.delete(event.call_id);
      layout.wait(null);
      const took = call === undefined ? '' : ` · ${shortTime(options.now() - call.since)}`;
      const hidden = call === undefined ? 0 : call.lines - call.shownLines;
      if (hidden > 0) layout.line(`… ${lineCount(hidden, 'more ')}`, DIM);
      if (event.error !== undefined) layout.line(`✗ ${oneLine(event.name)}${took} · ${oneLine(event.error)}`, RED);
      else layout.line(`✓ ${oneLine(event.name)}${took}`, DIM);
    },
    hold() {
      const from = options.now();
      return () => {
        for (const call of running.values()) call.since += options.now() - from;
      };
    },
  };
}

/** The name and the arguments as they are, for a tool that nobody described. */
function describeByArguments(name: string, args: JsonObject): string {
  const [first, ...more] = Object.values(args);
  return `${name} ${more.length === 0 && typeof first === 'string' ? first : JSON.stringify(args)}`;
}

/** The first line, shortened: what a trace names must not flood the transcript. */
function oneLine(text: string): string {
  const end = text.indexOf('\n');
  const line = neutralise(end === -1 ? text : text.slice(0, end)).slice(0, 160);
  return line.length < text.length ? `${line}…` : line;
}

function headOf(text: string, lines: number, characters: number): string {
  if (lines <= 0 || characters <= 0) return '';
  let end = -1;
  for (let line = 0; line < lines; line += 1) {
    end = text.indexOf('\n', end + 1);
    if (end === -1) return text.slice(0, characters);
  }
  return text.slice(0, Math.min(end + 1, characters));
}

const lineCount = (lines: number, which = ''): string =>
  `${shortCount(lines)} ${which}${lines === 1 ? 'line' : 'lines'}`;

const newlinesIn = (text: string): number => text.split('\n').length - 1;
