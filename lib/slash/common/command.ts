import type { CompressBlock } from '../../chat/entry.js';
import type { ChatEvent, ScreenSettings } from '../../chat/event.js';
import type { HiError } from '../../errors.js';
import type { MemoryFile } from '../../memory/memory-file.js';
import type { LineOrigin } from '../../memory/memory-text.js';
import type { Named } from '../../registry.js';
import type { Session } from '../../session/session.js';
import type { Reply } from '../../session/several-answers.js';

/** The memory, and the origin of lines added now. */
export interface OpenMemory {
  readonly file: MemoryFile;
  origin(by: LineOrigin['by']): LineOrigin;
}

/** An option to choose: its value, and the name shown for it. */
export interface Choice {
  readonly value: string;
  readonly name: string;
}

/** What the user chose, and whether for later chats too. */
export interface Chosen {
  readonly value: string;
  readonly isKept: boolean;
}

/** A server of models by name, and what is to be said of it in one line. */
export interface ModelServer {
  readonly name: string;
  readonly text: string;
  /** The chat models that it lists; why it lists none. */
  readonly models: readonly string[] | HiError;
}

/** The questions that wait for a server. */
export interface WaitingQuestions {
  /** Oldest first, each in one line. */
  list(): readonly { readonly id: string; readonly line: string }[];
  remove(id: string): void;
  /** Asks them, one after the other. */
  send(signal: AbortSignal): AsyncGenerator<ChatEvent>;
}

/** What would be forgotten: how it is shown, and how to forget it. */
export interface Forgetting {
  /** The ids of the messages of the conversation among it. */
  readonly messages: readonly number[];
  readonly shown: readonly string[];
  /** Resolves to the receipt. Throws a `HiError`. */
  forget(): Promise<readonly string[]>;
}

/** Asks the user what a command needs to know. */
export interface CommandQuestions {
  /**
   * Asks yes or no. With nobody to ask, `-y` means yes; without `-y`, throws a `HiError` whose hint ends with
   * `alternative`.
   */
  confirm(question: string, alternative: string): Promise<boolean>;
  /** Asks the user to choose; null if there is nobody to ask. Rejects as an interruption if the user cancels. */
  readonly choose: ((question: string, choices: readonly Choice[]) => Promise<string>) | null;
  /** The same for a long list, which typing narrows; Ctrl-S chooses and keeps the choice. */
  readonly search: ((question: string, choices: readonly Choice[]) => Promise<Chosen>) | null;
  /** Asks for a text; null if there is nobody to ask. Rejects as an interruption if the user cancels. */
  readonly input: ((question: string) => Promise<string>) | null;
}

/** The models that the user can choose. */
export interface ModelChoices {
  /** Those of the server in use. */
  names(signal?: AbortSignal): Promise<readonly string[]>;
  /** The names of the servers by name. */
  readonly serverNames: readonly string[];
  /** Asks each of them, and the one in use, which is the first. */
  servers(signal: AbortSignal): Promise<readonly ModelServer[]>;
  /**
   * What makes the model in use the default of later chats; `configured` if it already is, `foreign` if its provider is
   * not the configured one.
   */
  keep(): (() => Promise<void>) | 'configured' | 'foreign';
}

/** What something costs, as text. */
export interface Prices {
  /** The tokens and cost of this chat. */
  spending(): Promise<string>;
  /** The same, and the cost of the whole conversation, which is read for it. */
  total(): Promise<string>;
  /** What a question of so many tokens costs, in words, and whether to ask first. */
  question(tokens: number): Promise<{ readonly line: string; readonly isDear: boolean }>;
  /** The cost of these compactions' summaries, by id, where prices are known. */
  compactions(blocks: readonly CompressBlock[]): Promise<ReadonlyMap<number, string>>;
  /** Who answered, in one line with the cost; or why there is no answer. */
  reply(reply: Reply): Promise<string>;
}

/** The user's files. Relative paths begin in the folder of the tools, which changes. */
export interface UserFiles {
  /** The files and folders whose path starts with `typed`; folders end with a slash. */
  paths(typed: string): Promise<readonly string[]>;
  exists(path: string): Promise<boolean>;
  /** Replaces a file atomically. Throws a `HiError` that names the path. */
  write(path: string, chunks: AsyncIterable<string>): Promise<void>;
}

/** What touches the terminal, and the disk beyond the history. */
export interface Desk {
  /**
   * Opens a text in the user's editor. Resolves to what was saved, null if nothing changed. Throws a `HiError` if there
   * is no editor.
   */
  edit(text: string): Promise<string | null>;
  /** Copies a text to the clipboard. Resolves to a description of what happened. */
  copy(text: string): Promise<string>;
  /** What `/forget` with this argument would remove; null for nothing. Throws a `HiError`. */
  forgetting(argument: string): Promise<Forgetting | null>;
  /**
   * Removes files outside the history that may hold parts of the conversation. Throws a `HiError` that names what
   * cannot be removed.
   */
  purgeCaches(): Promise<void>;
  /** What a reset leaves of what the user said, as a sentence; empty if there is nothing. */
  leftByReset(): string;
  readonly queue: WaitingQuestions;
}

/** What a command may use. */
export interface SlashContext {
  readonly session: Session;
  /** All commands, for the help. Those of MCP servers come and go. */
  readonly commands: readonly SlashCommand[];
  /** How answers are shown. A command may change it. */
  readonly screen: ScreenSettings;
  readonly ask: CommandQuestions;
  readonly models: ModelChoices;
  readonly prices: Prices;
  readonly files: UserFiles;
  readonly desk: Desk;
  /** The memory: what is sent with every request. Throws a `HiError` if nothing is stored (`--ephemeral`, `/off`). */
  memory(): Promise<OpenMemory>;
  /** The project's instruction files, which are sent with every request. */
  instructions(): readonly { readonly name: string; readonly text: string }[];
  /** The MCP servers, one line each. */
  servers(): readonly string[];
  now(): Date;
}

/** What a command yields: events of the session, and two for the REPL. */
export type SlashEvent =
  | ChatEvent
  /** Puts text into the input line. */
  | { readonly type: 'prefill'; readonly text: string }
  /** Ends the chat. */
  | { readonly type: 'leave' };

/** A slash command: one object in one file, listed in `index.ts`, which help and completion read. */
export interface SlashCommand extends Named {
  /** How it is typed, with its arguments: `/compact [focus]`. */
  readonly usage: string;
  /** What it does, in one line. */
  readonly summary: string;
  /** The arguments it accepts, one at a time: options with two dashes, or words. */
  readonly options?: readonly string[];
  /** Whether its argument is free text, which may start with dashes. */
  readonly takesWords?: true;
  /** Whether the command line has a command of the same name, with options of its own. */
  readonly isOnCommandLine?: true;
  /** Completes its argument. */
  complete?(typed: string, context: SlashContext): Promise<readonly string[]>;
  /** `argument` is everything after the name, trimmed, and has passed `checkArgument`. Throws `HiError`s. */
  run(argument: string, context: SlashContext, signal: AbortSignal): AsyncIterable<SlashEvent>;
}
