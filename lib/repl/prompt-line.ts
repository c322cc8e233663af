import type { Key } from 'node:readline';
import { formatCandidates, LineRenderer, type LineView } from './drawing/line-renderer.js';
import { complete, insertCommonPrefix, type LineCompletionSources } from './editing/completion.js';
import { bufferOf, type EditBuffer, insert } from './editing/edit-buffer.js';
import { type KeyOutcome, keyName } from './editing/key-bindings.js';
import { LineEditor } from './editing/line-editor.js';
import { blockText, type LongPastes, recallable } from './editing/long-pastes.js';
import { HistorySearch, type InputHistory } from './input-history.js';
import type { LineEditing, SubmittedLine } from './repl.js';
import type { Terminal } from './terminal/terminal.js';
import { InputQueue, rememberUnsent, rowsBelow } from './typed-ahead.js';

/** Keys typed after Tab wait this long for the completion. Milliseconds. */
const COMPLETION_TIMEOUT = 150;

/**
 * The line at the prompt. It handles keys at all times. While an answer streams, it is shown below the answer, with the
 * queued lines.
 */
export class PromptLine {
  readonly #deps: PromptLineDeps;
  readonly #editor: LineEditor;
  readonly #renderer: LineRenderer;
  readonly #queue = new InputQueue();
  readonly #deferredKeys = new DeferredKeys(COMPLETION_TIMEOUT, () => this.#endCompletion());
  #prompt = '';
  #hint: string | null = null;
  #search: HistorySearch | null = null;
  /** Ends the reading of a line; null while none is being read. */
  #resolve: ((result: LineResult) => void) | null = null;
  #isInExternalEditor = false;
  /** The line for which the candidates stand above it. */
  #listedFor: EditBuffer | null = null;
  readonly #escape = new PressedTwice();
  /** A second interruption exits. */
  readonly interruption = new PressedTwice();

  constructor(deps: PromptLineDeps) {
    this.#deps = deps;
    this.#editor = new LineEditor(deps.longPastes, deps.history, deps.editing.modalKeys);
    this.#renderer = new LineRenderer(deps.terminal, deps.colour);
    if (deps.first !== null) this.#queue.push(bufferOf(deps.first));
  }

  /** Draws the prompt and resolves when a line is submitted; at once when one is queued. */
  read(prompt: string): Promise<LineResult> {
    this.#prompt = prompt;
    this.#listedFor = null;
    this.#deps.showBelow([]);
    return new Promise((resolve) => {
      this.#resolve = resolve;
      const queued = this.#queue.shift();
      if (queued === undefined) this.draw();
      else this.#accept(queued);
    });
  }

  key(text: string, key: Key): void {
    this.#hint = null;
    this.#escape.reset();
    if (this.#deferredKeys.defer(() => this.key(text, key))) return;
    if (this.#search !== null) this.#searchKey(this.#search, text, key);
    else if (!this.#takeQueued(key)) this.#handle(this.#editor.key(text, key));
  }

  paste(text: string): void {
    this.#hint = null;
    if (this.#deferredKeys.defer(() => this.paste(text))) return;
    this.#endSearch(true);
    this.#editor.paste(text);
  }

  /** Enters vi's normal mode if text is being typed; false if there is nothing to leave. */
  leaveInsertMode(): boolean {
    return this.#editor.buffer.text !== '' && !this.#editor.isNormal && this.#editor.escape();
  }

  escape(): void {
    if (this.#search === null && this.#editor.escape()) return;
    const isIdle = this.#resolve !== null && this.#search === null && this.#editor.buffer.text === '';
    this.#hint = null;
    this.#endSearch(false);
    if (isIdle && !this.#isInExternalEditor && this.#escape.press()) this.#submitEscapeCommand();
  }

  /** Shows the command as if it had been typed. It is not added to the input history. */
  #submitEscapeCommand(): void {
    const buffer = bufferOf(this.#deps.editing.escapeCommand);
    this.#renderer.commit({ prompt: this.#prompt, buffer });
    this.#resolveWith({ line: { shown: buffer.text, text: buffer.text, pasted: [] } });
  }

  draw(): void {
    if (this.#isInExternalEditor) return;
    if (this.#resolve !== null) this.#renderer.draw(this.#view());
    else this.#deps.showBelow(rowsBelow(this.#queue.lines, this.#editor, this.#deps));
  }

  /** While an answer streams, Up in an empty line takes back the line queued last. */
  #takeQueued(key: Key): boolean {
    if (this.#resolve !== null || keyName(key) !== 'up' || this.#editor.buffer.text !== '') return false;
    const newest = this.#queue.pop();
    if (newest !== undefined) this.#editor.set({ ...newest, cursor: newest.text.length });
    return newest !== undefined;
  }

  /** Inserts text before the typed text. */
  prefill(text: string): void {
    this.#editor.set(insert({ ...this.#editor.buffer, cursor: 0 }, this.#deps.longPastes.fold(text)));
    this.#editor.set({ ...this.#editor.buffer, cursor: this.#editor.buffer.text.length });
  }

  /**
   * Puts the queued lines back into the line, because the input before them did not end as expected. Up finds those
   * that do not fit into it.
   */
  restoreQueued(): void {
    const { line, others } = this.#queue.restore(this.#editor.buffer);
    rememberUnsent(others, this.#deps);
    this.#editor.set(line);
    if (others.length > 0) this.#hint = `Press Up for ${others.length} more that you typed.`;
  }

  /** Makes `restoreQueued` restore the submitted line too, with the cursor at this mention. */
  requeueSubmitted(mention: string): void {
    this.#queue.requeue(mention);
  }

  /** Ends the reading of a line with an exit status. */
  exit(status: number): void {
    this.#finish({ exit: status });
    this.saveUnsent();
  }

  /** Empties the line and the queue. Their text goes into the input history, where Up finds it next time. */
  saveUnsent(): void {
    rememberUnsent([...this.#queue.drain(), this.#editor.buffer], this.#deps);
    this.#editor.reset();
  }

  #view(): LineView {
    const { buffer } = this.#editor;
    const match = this.#search?.match() ?? null;
    const shown = match === null ? buffer : this.#deps.longPastes.fold(match);
    const hint = this.#hint ?? this.#deps.longPastes.sizes(shown);
    const prompt = this.#search?.prompt() ?? this.#modePrompt();
    return { prompt, buffer: shown, ...(hint !== null && { hint }) };
  }

  /** `hi: ` in vi's normal mode. */
  #modePrompt(): string {
    return this.#editor.isNormal ? this.#prompt.replace(/> $/, ': ') : this.#prompt;
  }

  #handle(outcome: KeyOutcome): void {
    if (outcome === 'submit') this.#submit();
    else if (outcome === 'interrupt') this.#interrupt();
    else if (outcome === 'suspend') this.#suspend();
    else if (outcome === 'image') void this.#pasteImage();
    else if (this.#resolve === null) return;
    else if (outcome === 'end') this.exit(0);
    else if (outcome === 'complete') void this.#complete();
    else if (outcome === 'search')
      this.#search = new HistorySearch(this.#deps.history.entries(), this.#editor.isNormal ? 'take' : 'send');
    else if (outcome === 'editor') void this.#edit();
    else if (outcome === 'clear') {
      this.#listedFor = null;
      this.#renderer.clearScreen();
    }
  }

  /** The shell writes where the line begins, so that nothing of it is left around what the shell says. */
  #suspend(): void {
    if (this.#resolve !== null) this.#renderer.erase();
    this.#deps.terminal.suspend();
  }

  #submit(): void {
    const { buffer } = this.#editor;
    this.#editor.reset();
    if (this.#resolve !== null) this.#accept(buffer);
    else if (buffer.text.trim() !== '') this.#queue.push(buffer);
  }

  /** A blank line is not sent; the prompt is drawn again. */
  #accept(buffer: EditBuffer): void {
    this.#renderer.commit({ prompt: this.#prompt, buffer });
    if (buffer.text.trim() === '') {
      this.draw();
      return;
    }
    const { longPastes, history } = this.#deps;
    history.add(recallable(longPastes.expand(buffer)));
    this.#queue.start(buffer);
    this.#resolveWith({ line: { shown: buffer.text, ...longPastes.expand(blockText(buffer)) } });
  }

  #interrupt(): void {
    if (this.#resolve === null) this.#deps.interrupt();
    else if (this.#editor.buffer.text !== '') this.#clear();
    else if (this.interruption.press()) this.#finish({ exit: 130 });
    else this.#hint = 'Press Ctrl-C again to exit.';
  }

  /** Up brings the cleared line back. */
  #clear(): void {
    const { longPastes, history } = this.#deps;
    const { buffer } = this.#editor;
    if (buffer.text.trim() !== '') history.addDraft(recallable(longPastes.expand(buffer)));
    this.#editor.clear();
  }

  /** Leaves the line on the screen and ends the reading. */
  #finish(result: LineResult): void {
    if (this.#resolve === null) return;
    this.#renderer.commit({ prompt: this.#prompt, buffer: this.#editor.buffer });
    this.#resolveWith(result);
  }

  #resolveWith(result: LineResult): void {
    const resolve = this.#resolve;
    this.#resolve = null;
    resolve?.(result);
  }

  #searchKey(search: HistorySearch, text: string, key: Key): void {
    const outcome = search.key(text, key);
    if (outcome === 'continue') return;
    this.#endSearch(outcome === 'take' || outcome === 'send');
    if (outcome === 'send') this.#submit();
  }

  #endSearch(isTaken: boolean): void {
    const match = this.#search?.match() ?? null;
    this.#search = null;
    if (isTaken && match !== null) this.#editor.set(this.#deps.longPastes.fold(match));
  }

  async #complete(): Promise<void> {
    const { buffer } = this.#editor;
    this.#deferredKeys.begin();
    const completion = await complete(buffer.text.slice(0, buffer.cursor), this.#deps.completion);
    // After a timeout the line may have changed, and the completion no longer fits.
    if (this.#editor.buffer === buffer && this.#resolve !== null) {
      const completed = insertCommonPrefix(buffer, completion);
      if (completed !== null) this.#editor.set(completed);
      else if (completion.candidates.length > 1 && this.#listedFor !== buffer) {
        this.#listedFor = buffer;
        this.#renderer.replaceBy(`${formatCandidates(completion.candidates, this.#deps.terminal.columns())}\n`);
      }
    }
    this.#endCompletion();
  }

  #endCompletion(): void {
    this.#deferredKeys.end();
    this.draw();
  }

  /** Inserts the mention at the cursor's position once the image is saved. */
  async #pasteImage(): Promise<void> {
    const path = await this.#deps.editing.pasteImage();
    if (path === null) this.#hint = 'There is no image on the clipboard.';
    else this.#editor.set(insert(this.#editor.buffer, { text: `@"${path}" `, marks: [] }));
    this.draw();
  }

  async #edit(): Promise<void> {
    this.#renderer.erase();
    this.#isInExternalEditor = true;
    const edited = await this.#deps.edit(this.#deps.longPastes.expand(this.#editor.buffer).text);
    this.#isInExternalEditor = false;
    if (edited !== null) this.#editor.set(bufferOf(edited));
    this.draw();
  }
}

/** The result of reading a line: an input to process, or the status to exit with. */
type LineResult = { readonly line: SubmittedLine } | { readonly exit: number };

/** What a `PromptLine` needs. */
interface PromptLineDeps {
  readonly terminal: Terminal;
  readonly colour: boolean;
  readonly longPastes: LongPastes;
  readonly history: InputHistory;
  /** What is submitted before anything is typed; null for nothing. */
  readonly first: string | null;
  readonly editing: LineEditing;
  readonly completion: LineCompletionSources;
  /** Shows rows below the answer. */
  showBelow(rows: readonly string[]): void;
  /** Ctrl-C while no line is being read. */
  interrupt(): void;
  /** Opens the text in the editor. Resolves to null after an error was shown. */
  edit(text: string): Promise<string | null>;
}

/** How soon the second press must follow, in milliseconds. */
const WINDOW = 2000;

/** Detects that a key is pressed twice. */
class PressedTwice {
  #pressedAt = Number.NEGATIVE_INFINITY;

  /** Records a press; true when it is the second. */
  press(): boolean {
    const now = performance.now();
    const isSecond = now - this.#pressedAt <= WINDOW;
    this.#pressedAt = isSecond ? Number.NEGATIVE_INFINITY : now;
    return isSecond;
  }

  /** Another key was pressed. */
  reset(): void {
    this.#pressedAt = Number.NEGATIVE_INFINITY;
  }
}

/** Holds keys back while a lookup runs, so that they are handled after it, but for at most `timeout` milliseconds. */
class DeferredKeys {
  readonly #timeout: number;
  readonly #onTimeout: () => void;
  #actions: (() => void)[] | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeout: number, onTimeout: () => void) {
    this.#timeout = timeout;
    this.#onTimeout = onTimeout;
  }

  begin(): void {
    this.#actions = [];
    this.#timer = setTimeout(this.#onTimeout, this.#timeout);
  }

  /** Defers the action and returns true while a lookup runs. Otherwise returns false, and the caller acts now. */
  defer(action: () => void): boolean {
    this.#actions?.push(action);
    return this.#actions !== null;
  }

  /** Runs the deferred actions in order. If one of them calls `begin`, those after it are deferred again. */
  end(): void {
    clearTimeout(this.#timer);
    const actions = this.#actions ?? [];
    this.#actions = null;
    for (const action of actions) action();
  }
}
