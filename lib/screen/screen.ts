import type { ChatEvent, ChatEventOf, KeptEntry, TextSpan, WrapMode } from '../chat/event.js';
import type { Usage } from '../chat/message.js';
import { dollarText, quantity, sizeText } from '../chat/text.js';
import { compactionLine, keptText, shortCount } from '../chat/transcript.js';
import { numberMark, type Source } from '../chat/web-source.js';
import { type HiError, unreachable } from '../errors.js';
import { AnswerPacer, type AnswerWriter, createAnswerWriter, type ScreenOptions } from './answer-writer.js';
import { errorText, shortTime, skillsLine } from './print.js';
import { shownEntry } from './shown-entry.js';
import { FRAME, type OutputStreams, TerminalLayout } from './terminal-layout.js';
import { Neutraliser, neutralise } from './text/neutralise.js';
import {
  BOLD,
  combine,
  DIM,
  firstColumns,
  INVERSE,
  linkTo,
  PLAIN,
  paint,
  RED,
  type Style,
  YELLOW,
} from './text/styled-text.js';
import { ToolTrace } from './tool-trace.js';
import { ThinkingTrace, WaitingStatus } from './waiting-status.js';

export type { OutputStreams } from './terminal-layout.js';

/** An event that is shown without waiting for anything. */
export type ShownEvent = Exclude<ChatEvent, { type: 'entry' }>;

/**
 * Shows the events of a turn as text on two streams, as their last reader. Everything that comes from models and tools
 * is neutralised if it reaches a terminal.
 */
export class Screen {
  readonly #streams: OutputStreams;
  readonly #options: ScreenOptions;
  readonly #layout: TerminalLayout;
  readonly #answer: AnswerWriter;
  readonly #pacer: AnswerPacer;
  readonly #status: WaitingStatus;
  /** Null if quiet. */
  readonly #trace: ToolTrace | null;
  /** Why the last request was sent again. */
  #retriedFor: string | null = null;
  readonly #thinking: ThinkingTrace;
  /** The sources of the turn whose numbers stand behind what rests on them. */
  readonly #cited = new Set<number>();
  #printed: Neutraliser | null = null;
  #isAfterEntry = false;

  constructor(streams: OutputStreams, options: ScreenOptions) {
    this.#streams = streams;
    this.#options = options;
    this.#layout = new TerminalLayout(streams, options);
    const wrap = (): WrapMode => options.settings?.wrap ?? 'word';
    this.#answer = createAnswerWriter(streams, this.#layout, options.styled, wrap, options.exact === true);
    this.#pacer = new AnswerPacer(this.#answer, streams.outIsTerminal ? FRAME : 0);
    const waiting = options.waiting !== false && streams.errIsTerminal;
    this.#status = new WaitingStatus(
      this.#layout,
      { ...options, waiting },
      {
        heldLines: () => this.#answer.heldLines,
        end: () => this.#answer.end(),
      },
    );
    this.#thinking = new ThinkingTrace(this.#layout, options, streams.errIsTerminal);
    this.#trace = options.quiet ? null : new ToolTrace(this.#layout, options, streams.errIsTerminal);
  }

  /** Shows every event as it comes, no faster than the streams accept them. Rejects if `events` does. */
  async follow(events: AsyncIterable<ChatEvent> | Promise<AsyncIterable<ChatEvent>>): Promise<void> {
    this.#status.begin();
    for await (const event of await events) {
      if (event.type !== 'text') {
        this.#pacer.flush();
        // Pending text may start a code block, whose highlighter must be loaded before the answer ends.
        if (this.#answer.loading !== null) await this.#answer.loading;
      }
      if (event.type === 'entry') await this.#showEntry(event);
      else this.show(event);
      this.#isAfterEntry = event.type === 'entry';
      if (this.#answer.loading !== null) await this.#answer.loading;
      if (this.#layout.isFull) await this.#layout.drained();
    }
  }

  /**
   * Shows one event. Never fails and never waits: a caller with many events should use `follow`, or await `flush` from
   * time to time.
   */
  show(event: ShownEvent): void {
    if (event.type !== 'print') this.#endPrint();
    if (event.type !== 'tool-start') this.#trace?.announce();
    if (event.type !== 'thinking') this.#thinking.end();
    if (event.type === 'text') {
      this.#status.countText(event.text);
      this.#pacer.push(event.text);
      return;
    }
    this.#pacer.flush();
    this.#showOther(event);
  }

  /** Shows what went wrong and what to try next. */
  error(error: HiError): void {
    this.#endAnswer();
    this.#layout.logText(errorText(error), RED);
  }

  notice(text: string, level: 'info' | 'warning'): void {
    this.#pacer.flush();
    this.#notice(text, level);
  }

  /** Shows rows below everything else, until `close` or the next call. Each must be narrower than the terminal. */
  readonly showBelow = (rows: readonly string[]): void => this.#layout.showBelow(rows);

  /**
   * Gives the terminal to something else (a question, an editor), at the start of a line, until the returned function
   * is called.
   */
  pause(): () => void {
    const resumeLayout = this.leave();
    const resumeClocks = this.#trace?.pause();
    return () => {
      resumeLayout();
      resumeClocks?.();
    };
  }

  /**
   * Gives the terminal to the shell, at the start of a line, until the returned function is called. Running calls
   * continue.
   */
  leave(): () => void {
    this.#pacer.flush();
    this.#answer.pause();
    return this.#layout.pause();
  }

  /** Resolves when the streams have accepted everything shown. */
  flush(): Promise<void> {
    this.#pacer.flush();
    return this.#layout.drained();
  }

  /** Removes the waiting line and ends an unfinished line. The screen can be used again. */
  close(): void {
    this.#trace?.announce();
    this.#pacer.flush();
    this.#endPrint();
    this.#answer.end();
    this.#layout.close();
  }

  #showOther(event: Exclude<ShownEvent, { type: 'text' }>): void {
    switch (event.type) {
      case 'request':
        this.#layout.beginAnswer();
        this.#status.show(event);
        break;
      case 'waiting':
      case 'compact-start':
      case 'compact-progress':
        this.#status.show(event);
        break;
      case 'thinking':
        this.#status.countThinking(event.text, this.#options.thinking === true);
        this.#thinking.add(event.text);
        break;
      case 'citation':
        this.#cite(event);
        break;
      case 'image':
        this.#showImage(event);
        break;
      case 'retry':
        this.#retry(event);
        break;
      case 'tool-start':
        this.#answer.end();
        this.#trace?.show(event);
        break;
      case 'tool-progress':
      case 'tool-output':
      case 'tool-end':
        this.#trace?.show(event);
        break;
      case 'elicitation':
        // The user saw it when asked.
        break;
      case 'compact':
        this.#layout.wait(null);
        this.#notice(compactionLine(event), 'info');
        break;
      case 'usage':
        if (event.purpose === 'summary') this.#showUsage(event, 'for the summary');
        break;
      case 'skills':
        if (event.loaded.length + event.dropped.length > 0) this.#notice(skillsLine(event), 'info');
        break;
      case 'notice':
        this.#trace?.explain(event.text);
        this.#notice(event.text, event.level);
        break;
      case 'print':
        this.#print(event);
        break;
      case 'turn-end':
        this.#endTurn(event);
        break;
      default:
        unreachable(event);
    }
  }

  /** An empty line separates entries that follow each other. */
  async #showEntry(kept: KeptEntry): Promise<void> {
    this.#endAnswer();
    const text = await this.#entryText(kept);
    if (text === '') return;
    this.#layout.writeAnswer(`${this.#isAfterEntry ? '\n' : ''}${text}`);
  }

  /** Consecutive pieces are one text, which may be split anywhere. */
  #print({ text, exact = false, hits = [] }: ChatEventOf<'print'>): void {
    if (this.#printed === null) this.#answer.end();
    this.#printed ??= new Neutraliser();
    const shown = this.#streams.outIsTerminal ? this.#marked(text, hits, this.#printed) : text;
    this.#layout.writeAnswer(exact || !this.#streams.outIsTerminal ? shown : this.#layout.wrapped(shown));
  }

  #entryText(kept: KeptEntry): Promise<string> | string {
    const { outIsTerminal, colour, columns } = this.#streams;
    if (!outIsTerminal) return keptText(kept);
    if (this.#options.styled === null) return neutralise(keptText(kept));
    const wrap = (): WrapMode => this.#options.settings?.wrap ?? 'word';
    return shownEntry(kept, { colour: colour.out, links: this.#streams.links === true, columns, wrap });
  }

  /** The neutralised text with the places that stand out. */
  #marked(text: string, hits: readonly TextSpan[], safe: Neutraliser): string {
    if (!this.#streams.colour.out || hits.length === 0) return safe.push(text);
    let [at, shown] = [0, ''];
    for (const { start, end } of hits) {
      shown += safe.push(text.slice(at, start)) + paint(safe.push(text.slice(start, end)), combine(BOLD, INVERSE));
      at = end;
    }
    return shown + safe.push(text.slice(at));
  }

  #endPrint(): void {
    if (this.#printed !== null) this.#layout.writeAnswer(this.#printed.end());
    this.#printed = null;
  }

  #showImage({ path, mime, bytes }: ChatEventOf<'image'>): void {
    this.#answer.end();
    const shown = this.#options.inlineImage?.(path, mime) ?? null;
    if (typeof shown === 'string') this.#layout.logLine(shown, PLAIN);
    else void shown?.then((drawn) => drawn !== null && this.#layout.logLine(drawn, PLAIN));
    this.#line(`Picture: ${path} (${sizeText(bytes)})`, PLAIN);
  }

  #retry(event: ChatEventOf<'retry'>): void {
    this.#answer.end();
    if (this.#options.quiet) return;
    const { attempt, delay, reason } = event;
    const why = attempt > 1 && reason === this.#retriedFor ? ', for the same reason' : `: ${reason}`;
    this.#retriedFor = reason;
    if (!this.#streams.errIsTerminal) this.#layout.logLine(`Retry ${attempt} in ${shortTime(delay)}${why}`, DIM);
    this.#status.countDown(event);
  }

  #showUsage(request: UsageOf, purpose: string): void {
    if (this.#options.usage) this.#notice(usageLine(request, purpose), 'info');
  }

  #endTurn(event: ChatEventOf<'turn-end'>): void {
    this.#endAnswer();
    this.#showSources(event);
    this.#showUsage(event, `${shortCount(event.usage.context_tokens)} in context${costPhrase(event.cost)}`);
    if (event.stop_reason === 'interrupted') this.#line('(interrupted)', DIM);
  }

  /** The numbers of sources behind the sentence. A pipe gets only the answer. */
  #cite({ numbers }: ChatEventOf<'citation'>): void {
    if (!this.#showsSources || !this.#streams.outIsTerminal || this.#options.exact === true) return;
    for (const number of numbers) this.#cited.add(number);
    this.#pacer.push(` ${numbers.map(numberMark).join('')}`);
  }

  get #showsSources(): boolean {
    return !this.#options.quiet && this.#options.sources !== false;
  }

  /** Goes to the log, so that a pipe gets only the answer. */
  #showSources({ sources, text }: ChatEventOf<'turn-end'>): void {
    const unmarked = sources.map(({ url, cited }, at) => !this.#cited.has(at + 1) && !text.includes(url) && cited);
    this.#cited.clear();
    if (sources.length === 0 || !this.#showsSources) return;
    const links = this.#streams.errIsTerminal && this.#streams.links === true;
    const list = sourceList(sources, unmarked, { links, columns: this.#streams.columns() });
    this.#layout.logLine(list, DIM);
  }

  #endAnswer(): void {
    this.#trace?.announce();
    this.#pacer.flush();
    this.#layout.wait(null);
    this.#answer.end();
  }

  #notice(text: string, level: 'info' | 'warning'): void {
    if (level === 'warning' || !this.#options.quiet) this.#line(text, level === 'warning' ? YELLOW : DIM);
  }

  /** Writes a line that interrupts the answer. */
  #line(text: string, style: Style): void {
    this.#answer.pause();
    this.#layout.logText(this.#streams.errIsTerminal ? neutralise(text) : text, style);
  }
}

/** A request and its usage. */
interface UsageOf {
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
}

/** The tokens of a request on one line. */
function usageLine({ provider, model, usage }: UsageOf, purpose: string): string {
  const cached = usage.cached_tokens > 0 ? ` (${shortCount(usage.cached_tokens)} cached)` : '';
  const tokens = `${shortCount(usage.input_tokens)} tokens in${cached} · ${shortCount(usage.output_tokens)} out`;
  return `${provider}/${model} · ${tokens} · ${purpose}`;
}

/** The cost of a turn for the usage line; empty if it was not requested or there is none. */
function costPhrase(cost: number | null | undefined): string {
  if (cost === undefined || cost === 0) return '';
  return cost === null ? ' · cost unknown' : ` · ${dollarText(cost)}`;
}

/** How a list of sources is shown. */
interface SourceListOptions {
  /** Whether addresses are links (OSC 8). If so, a long one can be shortened. */
  readonly links: boolean;
  readonly columns: number;
}

/**
 * The numbered list of pages that an answer cites, for the log, each with those passages that have no number behind
 * them.
 */
function sourceList(
  sources: readonly Source[],
  unmarked: readonly (Source['cited'] | false)[],
  options: SourceListOptions,
): string {
  const lines = sources.flatMap((source, at) => {
    const passages = (unmarked[at] || []).map((passage) => `“${neutralise(passage)}”`);
    const quoted = passages.length === 0 ? [] : [`   ${firstColumns(passages.join(' '), options.columns - 4)}`];
    return [`${at + 1}. ${entry(source, options)}`, ...quoted];
  });
  return [`${quantity(sources.length, 'source')}:`, ...lines].join('\n');
}

/** The minimum length of a shortened address. */
const LEAST = 24;

function entry({ url, title }: Source, { links, columns }: SourceListOptions): string {
  const name = title === undefined ? '' : neutralise(title);
  const address = neutralise(url);
  if (!links) return name === '' ? address : `${name}  ${address}`;
  const room = Math.max(LEAST, columns - name.length - 6);
  const shown = address.length <= room ? address : `${address.slice(0, room - 1)}…`;
  return `${linkTo(neutralise(url))}${name === '' ? shown : `${name}  ${shown}`}${linkTo('')}`;
}
