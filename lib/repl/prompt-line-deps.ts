import type { LineCompletionSources } from './completion/line-completion.js';
import type { LongPastes } from './editing/long-pastes.js';
import type { ModalKeys } from './editing/modal-keys.js';
import type { InputHistory } from './input-history.js';
import type { SubmittedLine } from './repl.js';
import type { Terminal } from './terminal/terminal.js';

/** The result of reading a line: an input to process, or the status to exit with. */
export type LineResult = { readonly line: SubmittedLine } | { readonly exit: number };

/** What a `PromptLine` needs. */
export interface PromptLineDeps {
  readonly terminal: Terminal;
  readonly colour: boolean;
  readonly longPastes: LongPastes;
  readonly history: InputHistory;
  /** Modal keys, such as `ViKeys`; null for Emacs keys. */
  readonly modalKeys: ModalKeys | null;
  readonly completion: LineCompletionSources;
  /** The command that Escape, pressed twice at an empty prompt, submits. */
  readonly escapeCommand: string;
  /** Saves the image on the clipboard to a file. Resolves to its path, null if there is no image. */
  pasteImage(): Promise<string | null>;
  /** Shows rows below the answer. */
  showBelow(rows: readonly string[]): void;
  /** Ctrl-C while no line is being read. */
  interrupt(): void;
  /** Opens the text in the editor. Resolves to null after an error was shown. */
  edit(text: string): Promise<string | null>;
}
