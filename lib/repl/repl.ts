import type { ChatEvent } from '../chat/event.js';
import type { Screen } from '../screen/screen.js';
import type { CompletableCommand } from './line-completion.js';
import type { Span } from './long-pastes.js';
import type { TerminalInput, TerminalOutput } from './terminal.js';

export type { CompletableCommand } from './line-completion.js';

/** One input as the user sent it. */
export interface SubmittedLine {
  /** As it stood on the screen, long pastes as tokens, a block with its `"""`: what decides whether it is a command. */
  readonly shown: string;
  /** What is meant: tokens replaced, the quotes of a block taken off. */
  readonly text: string;
  /** The stretches of `text` that were pasted. An `@path` or a `/` in there is text and nothing else. */
  readonly pasted: readonly Span[];
}

/** What a REPL needs of the rest of the program. */
export interface ReplDeps {
  readonly stdin: TerminalInput;
  /** Where the prompt and the line are drawn. With `stdin` it must be a terminal; otherwise each line of `stdin` is a turn, without a prompt. */
  readonly terminal: TerminalOutput;
  /** Whether the terminal cannot move its cursor, so that the line cannot be edited here. */
  readonly isDumb: boolean;
  readonly colour: boolean;
  readonly screen: Screen;
  /** Asked before each line: `hi> `, or `hi 62%> `. */
  prompt(): string | Promise<string>;
  /**
   * Acts on one input, message or command, and yields what happens for the screen. Inputs come one after another, never two at once.
   * What it throws is shown and the REPL goes on; when `signal` aborts (Ctrl-C, Esc) it should end at once, by itself or by an abort error.
   */
  submit(line: SubmittedLine, signal: AbortSignal): AsyncIterable<ChatEvent> | Promise<AsyncIterable<ChatEvent>>;
  /** For Tab. */
  readonly commands: readonly CompletableCommand[];
  /** Where inputs are remembered from day to day; null when they are not. */
  readonly inputHistoryFile: string | null;
  /** A paste of more characters than this becomes a token. */
  readonly longPaste: number;
  /** The command that edits a file, such as `vim` or `code --wait`; null when there is none. */
  readonly editor: string | null;
  /** What relative paths after `@` are completed against. */
  readonly cwd: string;
  /** What `~` stands for. */
  readonly home: string;
}

/** What a question gets to ask with: streams for `@inquirer/prompts` and a signal that aborts with the turn. */
export interface QuestionTerminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  readonly signal: AbortSignal;
}

/** A conversation at the keyboard. */
export interface Repl {
  /** Runs until the user leaves. Resolves to the exit status: 0 (Ctrl-D, `quit`), 130 (Ctrl-C twice), 129 and 143 (SIGHUP, SIGTERM), or that of the last error without a terminal. */
  run(): Promise<number>;
  /**
   * Asks something while an input is being acted on: the keys go to the question, what was typed before is kept for the next prompt.
   * Ctrl-C and Esc abort the turn and with it the question. Rejects with a `HiError` (usage) without a terminal.
   */
  ask<Answer>(question: (terminal: QuestionTerminal) => Promise<Answer>): Promise<Answer>;
  /** Opens the text in the user's editor. Resolves to the edited text. Rejects with a `HiError` (usage) when there is no editor or it fails. */
  edit(text: string): Promise<string>;
  /** Gives the terminal to another program while `use` runs. Rejects with a `HiError` (usage) without a terminal. */
  lend<Result>(use: () => Promise<Result>): Promise<Result>;
  /** Puts text into the line of the next prompt, before what was typed ahead. */
  prefill(text: string): void;
  /** Puts the input that is being acted on back into the line of the next prompt, as it was, once acting on it has failed. */
  giveBack(): void;
  /** Ends `run` with status 0 after the input that is being acted on. */
  quit(): void;
}
