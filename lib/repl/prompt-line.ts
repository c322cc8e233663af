import type { Key } from 'node:readline';
import { formatCandidates } from './candidate-list.js';
import { DeferredKeys } from './deferred-keys.js';
import { bufferOf, type EditBuffer, EMPTY_BUFFER, insert, joinLines, replaceRange } from './edit-buffer.js';
import { HistorySearch } from './history-search.js';
import type { InputHistory } from './input-history.js';
import type { KeyOutcome } from './key-bindings.js';
import { type Completion, type CompletionSources, commonPrefix, complete } from './line-completion.js';
import { LineEditor } from './line-editor.js';
import type { LongPastes } from './long-pastes.js';
import { createPainter, type LineView } from './painter.js';
import { blockText } from './quoted-block.js';
import type { SubmittedLine } from './repl.js';
import type { Terminal } from './terminal.js';

/** What came of reading a line: something to send, or the status to leave with. */
export type LineResult = { readonly line: SubmittedLine } | { readonly leave: number };

/** What the line needs of the REPL around it. */
export interface PromptLineDeps {
  readonly terminal: Terminal;
  readonly colour: boolean;
  readonly longPastes: LongPastes;
  readonly history: InputHistory;
  readonly completion: CompletionSources;
  /** Ctrl-C while no line is being read. */
  interrupt(): void;
  /** Opens the text in the editor; resolves to null when that failed and was told. */
  edit(text: string): Promise<string | null>;
}

/** A second Ctrl-C within this time leaves. Milliseconds. */
const LEAVE_WITHIN = 2000;
/** Keys wait this long for a completion, so that what is typed after Tab comes after what it completed. Milliseconds. */
const COMPLETION_PATIENCE = 150;

/** The line at the prompt. Keys are taken at all times; it is drawn only while it is being read, so that answers are not disturbed by typing. */
export class PromptLine {
  readonly #deps: PromptLineDeps;
  readonly #editor;
  readonly #painter;
  /** Lines entered while something else went on. */
  #entered: EditBuffer[] = [];
  /** The line that was sent last. */
  #sent = EMPTY_BUFFER;
  #prompt = '';
  #hint: string | null = null;
  #search: HistorySearch | null = null;
  #resolve: ((read: LineResult) => void) | null = null;
  readonly #completing = new DeferredKeys(COMPLETION_PATIENCE, () => this.#catchUp());
  /** While the line is in another program's hands. */
  #isEdited = false;
  #interruptedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: PromptLineDeps) {
    this.#deps = deps;
    this.#editor = new LineEditor(deps.longPastes, deps.history);
    this.#painter = createPainter({ ...deps.terminal, colour: deps.colour });
  }

  /** Draws the prompt with what was typed ahead and resolves when a line is entered; at once when one was entered ahead. */
  read(prompt: string): Promise<LineResult> {
    this.#prompt = prompt;
    return new Promise((resolve) => {
      this.#resolve = resolve;
      const entered = this.#entered.shift();
      if (entered === undefined) this.draw();
      else this.#enter(entered);
    });
  }

  key(text: string, key: Key): void {
    this.#hint = null;
    if (this.#completing.keeps(() => this.key(text, key))) return;
    if (this.#search !== null) this.#searchOn(this.#search, text, key);
    else this.#do(this.#editor.key(text, key));
  }

  paste(text: string): void {
    this.#hint = null;
    if (this.#completing.keeps(() => this.paste(text))) return;
    this.#endSearch(true);
    this.#editor.paste(text);
  }

  escape(): void {
    this.#hint = null;
    this.#endSearch(false);
  }

  /** Draws the line as it is now, if it is being read. */
  draw(): void {
    if (this.#resolve !== null && !this.#isEdited) this.#painter.draw(this.#view());
  }

  /** Puts text before what is typed; lines that were entered ahead and not sent come after it. */
  prefill(text: string): void {
    this.#editor.set(insert({ ...this.#editor.buffer, cursor: 0 }, { text, marks: [] }));
    this.#editor.set({ ...this.#editor.buffer, cursor: this.#editor.buffer.text.length });
  }

  /** Lines entered ahead become part of the line again, unsent: what they followed did not end as expected. */
  takeBack(): void {
    this.#editor.set(joinLines([...this.#entered, this.#editor.buffer]));
    this.#entered = [];
  }

  /** The line that was sent last is to be taken back with those entered ahead. */
  giveBack(): void {
    this.#entered.unshift(this.#sent);
    this.#sent = EMPTY_BUFFER;
  }

  /** Stops reading, to leave the program. */
  leave(status: number): void {
    this.#finish({ leave: status });
    this.keepUnsent();
  }

  /** Empties the line; what was typed or entered and not sent is kept where Up finds it the next time. */
  keepUnsent(): void {
    const { longPastes, history } = this.#deps;
    for (const buffer of [...this.#entered, this.#editor.buffer])
      if (buffer.text.trim() !== '') history.add(longPastes.expand(buffer).text);
    this.#entered = [];
    this.#editor.reset();
  }

  /** Calls `leave` when it is called the second time within two seconds. */
  leaveOnSecond(leave: () => void): void {
    const now = performance.now();
    if (now - this.#interruptedAt <= LEAVE_WITHIN) leave();
    else this.#interruptedAt = now;
  }

  #view(): LineView {
    const { buffer } = this.#editor;
    const match = this.#search?.match() ?? null;
    return {
      prompt: this.#search?.prompt() ?? this.#prompt,
      buffer: match === null ? buffer : bufferOf(match),
      ...(this.#hint === null ? {} : { hint: this.#hint }),
    };
  }

  #do(outcome: KeyOutcome): void {
    if (outcome === 'submit') this.#submit();
    else if (outcome === 'interrupt') this.#interrupt();
    else if (outcome === 'suspend') this.#deps.terminal.suspend();
    else if (this.#resolve === null) return;
    else if (outcome === 'end') this.leave(0);
    else if (outcome === 'complete') void this.#complete();
    else if (outcome === 'search') this.#search = new HistorySearch(this.#deps.history.entries());
    else if (outcome === 'editor') void this.#edit();
    else if (outcome === 'clear') this.#painter.clear();
  }

  #submit(): void {
    const { buffer } = this.#editor;
    this.#editor.reset();
    if (this.#resolve !== null) this.#enter(buffer);
    else if (buffer.text.trim() !== '') this.#entered.push(buffer);
  }

  /** A blank line is not sent; it gives a new prompt. */
  #enter(buffer: EditBuffer): void {
    this.#painter.leave({ prompt: this.#prompt, buffer });
    if (buffer.text.trim() === '') {
      this.draw();
      return;
    }
    const { longPastes, history } = this.#deps;
    history.add(longPastes.expand(buffer).text);
    this.#sent = buffer;
    const line = { shown: buffer.text, ...longPastes.expand(blockText(buffer)) };
    const resolve = this.#resolve;
    this.#resolve = null;
    resolve?.({ line });
  }

  #interrupt(): void {
    const { buffer } = this.#editor;
    if (this.#resolve === null || buffer.text !== '') {
      if (this.#resolve === null) this.#deps.interrupt();
      else this.#editor.set(EMPTY_BUFFER);
      return;
    }
    this.#hint = 'Press Ctrl-C again to leave.';
    this.leaveOnSecond(() => this.#finish({ leave: 130 }));
  }

  #finish(read: LineResult): void {
    if (this.#resolve === null) return;
    this.#painter.leave({ prompt: this.#prompt, buffer: this.#editor.buffer });
    const resolve = this.#resolve;
    this.#resolve = null;
    resolve(read);
  }

  #searchOn(search: HistorySearch, text: string, key: Key): void {
    const outcome = search.key(text, key);
    if (outcome === 'continue') return;
    this.#endSearch(outcome === 'take' || outcome === 'send');
    if (outcome === 'send') this.#submit();
  }

  #endSearch(isTaken: boolean): void {
    const match = this.#search?.match() ?? null;
    this.#search = null;
    if (isTaken && match !== null) this.#editor.set(bufferOf(match));
  }

  async #complete(): Promise<void> {
    const { buffer } = this.#editor;
    this.#completing.begin();
    const completion = await complete(buffer.text.slice(0, buffer.cursor), this.#deps.completion);
    // Where the candidates took their time, what was typed meanwhile counts for more.
    if (this.#editor.buffer === buffer && this.#resolve !== null) this.#offer(completion);
    this.#catchUp();
  }

  #catchUp(): void {
    this.#completing.end();
    this.draw();
  }

  /** Puts in what all candidates have in common; when that is nothing new, lists them above the line. */
  #offer({ from, candidates }: Completion): void {
    const { buffer } = this.#editor;
    const start = commonPrefix(candidates);
    if (start.length >= buffer.cursor - from && start !== buffer.text.slice(from, buffer.cursor)) {
      this.#editor.set(replaceRange(buffer, from, buffer.cursor, { text: start, marks: [] }));
    } else if (candidates.length > 1) {
      this.#painter.lift();
      const { terminal } = this.#deps;
      terminal.write(`${formatCandidates(candidates, terminal.columns())}\n`);
    }
  }

  async #edit(): Promise<void> {
    this.#painter.lift();
    this.#isEdited = true;
    const edited = await this.#deps.edit(this.#deps.longPastes.expand(this.#editor.buffer).text);
    this.#isEdited = false;
    if (edited !== null) this.#editor.set(bufferOf(edited));
    this.draw();
  }
}
