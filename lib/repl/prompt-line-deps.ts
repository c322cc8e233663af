import type { LineCompletionSources } from './completion/line-completion.js';
import type { LongPastes } from './editing/long-pastes.js';
import type { ModalKeys } from './editing/modal-keys.js';
import type { InputHistory } from './input-history.js';
import type { SubmittedLine } from './repl.js';
import type { Terminal } from './terminal/terminal.js';

/** The result of reading a line: an input to process, or the status to exit with. */
export type LineResult = { readonly line: SubmittedLine } | { readonly exit: number };

/** What the line at the prompt works with. */
export interface PromptLineDeps {
  readonly terminal: Terminal;
  readonly colour: boolean;
  readonly longPastes: LongPastes;
  readonly history: InputHistory;
  /** Keys with modes; null for the usual ones. */
  readonly modalKeys: ModalKeys | null;
  readonly completion: LineCompletionSources;
  /** What Escape submits when it is pressed twice at an empty prompt. */
  readonly escapeCommand: string;
  /** Puts the image on the clipboard into a file. Resolves to its path, null where there is none. */
  pasteImage(): Promise<string | null>;
  /** Shows rows below the answer. */
  showBelow(rows: readonly string[]): void;
  /** Ctrl-C while no line is being read. */
  interrupt(): void;
  /** Opens the text in the editor. Resolves to null after an error was shown. */
  edit(text: string): Promise<string | null>;
}
