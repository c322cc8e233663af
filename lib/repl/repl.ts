import type { ChatEvent } from '../chat/event.js';
import type { OutputStream } from '../screen/output-stream.js';
import type { Screen } from '../screen/screen.js';
import type { LineCompletionSources } from './editing/completion.js';
import type { ModalKeys } from './editing/key-bindings.js';
import type { Span } from './editing/long-pastes.js';
import type { TerminalInput } from './terminal/terminal.js';

export type { CompletableCommand } from './editing/completion.js';

/** One input as submitted. */
export interface SubmittedLine {
  /**
   * The text on the screen: long pastes are tokens and a block has its `"""`. It decides whether the input is a
   * command.
   */
  readonly shown: string;
  /** The full text: tokens are expanded and the quotes of a block are removed. */
  readonly text: string;
  /** The ranges of `text` that were pasted. An `@path` or a `/` in them is ordinary text. */
  readonly pasted: readonly Span[];
}

/**
 * Where lines are read and drawn. If `input` or `output` is not a terminal, each line of `input` is a turn, without a
 * prompt.
 */
export interface ReplTerminal {
  readonly input: TerminalInput;
  readonly output: OutputStream;
  /** Whether the terminal cannot move its cursor, so that line editing is impossible. */
  readonly isDumb: boolean;
  readonly colour: boolean;
}

/** How a line is edited. */
export interface LineEditing {
  /** Modal keys, such as `ViKeys`; null for Emacs keys. */
  readonly modalKeys: ModalKeys | null;
  /** A paste of more code points than this becomes a token. */
  readonly longPaste: number;
  /** The command that edits a file, such as `vim` or `code --wait`; null when none is set. */
  readonly editor: string | null;
  /** The command that Escape, pressed twice at an empty prompt, submits. */
  readonly escapeCommand: string;
  /** Saves the image on the clipboard to a file. Resolves to its path, null if there is no image. */
  pasteImage(): Promise<string | null>;
}

/** What the terminal shows around the lines. */
export interface ReplWindow {
  /** The title while the chat runs; null leaves it as it is. */
  readonly title: string | null;
  /** Called with whether the background is light, if the terminal reports its colour. Null does not ask. */
  readonly background: ((isLight: boolean) => void) | null;
  /**
   * Written when an answer or a question comes after a long wait and the terminal has lost the focus, such as a bell;
   * empty for none.
   */
  readonly attention: string;
  /** Whether text typed during an answer is shown below it. */
  readonly showsTypedAhead: boolean;
}

export interface ReplDeps {
  readonly terminal: ReplTerminal;
  readonly screen: Screen;
  readonly window: ReplWindow;
  readonly editing: LineEditing;
  readonly completion: LineCompletionSources;
  /** The inputs of earlier sessions: their file, null for none, and whether an input may be written to it now. */
  readonly inputHistory: { readonly file: string | null; isKept(): boolean };
  /** The prompt of the next line: `hi> `, or `hi 62%> `. */
  prompt(): string | Promise<string>;
  /**
   * Processes one input, message or command, and yields the events for the screen. Not called again before the previous
   * call has ended. Errors are shown and the REPL goes on. When `signal` aborts (Ctrl-C, Esc), it must end at once,
   * with or without an abort error.
   */
  submit(line: SubmittedLine, signal: AbortSignal): AsyncIterable<ChatEvent> | Promise<AsyncIterable<ChatEvent>>;
  /** What is submitted before anything is typed; null for nothing. */
  readonly first: string | null;
  /** Ends a wait of the running turn that Escape ends without ending the turn. Returns false if there is none. */
  skipWait?(): boolean;
}

/** What a question needs: streams for `@inquirer/prompts` and a signal that aborts with the turn. */
export interface QuestionTerminal {
  /**
   * Resolves when nothing typed earlier can answer the question. Call it right before showing a question that took time
   * to prepare.
   */
  readonly ready: () => Promise<void>;
  readonly input: NodeJS.ReadableStream;
  readonly output: OutputStream;
  readonly signal: AbortSignal;
}

/** A read-eval-print loop. */
export interface Repl {
  /**
   * Runs until the user exits. Resolves to the exit status: 0 (Ctrl-D, `quit`), 130 (Ctrl-C twice), 129 or 143 (SIGHUP,
   * SIGTERM), or, without a terminal, that of the last error.
   */
  run(): Promise<number>;
  /**
   * Asks a question while an input is being processed. The question gets the keys; text typed earlier is kept for the
   * next prompt. Ctrl-C and Esc abort the turn and with it the question. Rejects with a `HiError` (usage) without a
   * terminal.
   */
  ask<Answer>(question: (terminal: QuestionTerminal) => Promise<Answer>): Promise<Answer>;
  /**
   * Opens the text in the user's editor and resolves to the edited text. Rejects with a `HiError` (usage) when no
   * editor is set or it fails.
   */
  edit(text: string): Promise<string>;
  /**
   * Gives the terminal to another program while `run` is running. Rejects with a `HiError` (usage) without a terminal.
   */
  releaseTerminal<Result>(run: () => Promise<Result>): Promise<Result>;
  /** Inserts text into the line of the next prompt, before the text typed ahead. */
  prefill(text: string): void;
  /**
   * If processing the current input fails, puts it back into the line of the next prompt, with the cursor at this
   * mention if it has it.
   */
  restoreInput(mention: string): void;
  /** Ends `run` with status 0 after the current input. */
  quit(): void;
  /**
   * The terminal's capabilities (DA1): numbers joined by semicolons. Empty if it does not answer in time, or there is
   * no terminal.
   */
  attributes(): Promise<string>;
}
