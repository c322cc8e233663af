import type { CompressBlock } from '../../chat/entry.js';
import type { ChatEvent } from '../../chat/event.js';
import type { ScreenSettings } from '../../chat/screen-settings.js';
import type { MemoryFile } from '../../memory/memory-file.js';
import type { LineOrigin } from '../../memory/memory-text.js';
import type { Named } from '../../registry.js';
import type { Session } from '../../session/session.js';

/** The memory, and where a line that is kept now comes from. */
export interface OpenMemory {
  readonly file: MemoryFile;
  origin(by: LineOrigin['by']): LineOrigin;
}

/** Something to choose: what is chosen, and how it is shown. */
export interface Choice {
  readonly value: string;
  readonly name: string;
}

/** Everything that is to be forgotten: what is shown of it, and what does it. */
export interface Forgetting {
  readonly shown: readonly string[];
  /** Resolves to the receipt. Throws a `HiError`. */
  forget(): Promise<readonly string[]>;
}

/** What a command may use besides the session. The program hands in what touches the terminal and the disk. */
export interface SlashContext {
  readonly session: Session;
  /** All commands, for the help. Those of servers come and go. */
  readonly commands: readonly SlashCommand[];
  /** How answers are shown, to be changed in place. */
  readonly screen: ScreenSettings;
  /** Asks yes or no. Without a user to ask, `-y` means yes; without `-y` a `HiError` is thrown whose hint ends with `alternative`. */
  confirm(question: string, alternative: string): Promise<boolean>;
  /** Lets the user choose one of these; null where there is nobody to choose. Rejects as an interruption when the user cancels. */
  readonly choose: ((question: string, choices: readonly Choice[]) => Promise<string>) | null;
  /** The same for a long list, of which typing leaves what fits. */
  readonly search: ((question: string, choices: readonly Choice[]) => Promise<string>) | null;
  /** Asks for a text; null where there is nobody to ask. Rejects as an interruption when the user cancels. */
  readonly input: ((question: string) => Promise<string>) | null;
  /** Makes the model in use that of the next chats too. Null where it is that already, or not of the provider of the configuration. */
  keepModel(): (() => Promise<void>) | null;
  /** Opens a text in the user's editor. Resolves to what was saved, null when nothing changed. Throws a `HiError` when there is no editor. */
  edit(text: string): Promise<string | null>;
  /** Puts a text on the clipboard. Resolves to what happened, in words. */
  copy(text: string): Promise<string>;
  /** The models of the provider in use, for choosing. */
  models(signal?: AbortSignal): Promise<readonly string[]>;
  /** Removes what is stored outside the history and may hold parts of the conversation. Throws a `HiError` that names what cannot be removed. */
  purgeCaches(): Promise<void>;
  /** What goes where some words, as `/forget` has them, are forgotten; null for nothing. Throws a `HiError`. */
  forgetting(argument: string): Promise<Forgetting | null>;
  /** What the user wants always kept in mind. Throws a `HiError` where nothing is kept. */
  memory(): Promise<OpenMemory>;
  now(): Date;
  /** The files of the project that go with every request, by name, with their text. */
  instructions(): readonly { readonly name: string; readonly text: string }[];
  /** The MCP servers, a line each. */
  servers(): readonly string[];
  /** Lines that say what the answers of this chat used and cost. */
  spending(): Promise<string>;
  /** The same, with the cost of the whole conversation, which is read for it. */
  cost(): Promise<string>;
  /** What the summaries of these compactions cost, in words, by id, as far as prices are known. */
  compactionCosts(blocks: readonly CompressBlock[]): Promise<ReadonlyMap<number, string>>;
  /** The files and folders whose path begins so, folders with a slash at their end. */
  paths(typed: string): Promise<readonly string[]>;
  /** Whether there is a file of that name. */
  exists(path: string): Promise<boolean>;
  /** Replaces a whole file at once. Throws a `HiError` that names the path. */
  write(path: string, chunks: AsyncIterable<string>): Promise<void>;
}

/** What a command yields: events of the session, and two that only the REPL can act on. */
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
  /** The options it knows, with two dashes; one of them is all it takes. */
  readonly options?: readonly string[];
  /** Whether its argument is what the user says or looks for, which may begin with dashes. */
  readonly takesWords?: true;
  /** Whether the command line has a command of the same name, with options of its own. */
  readonly isOnCommandLine?: true;
  /** What may be typed as its argument. */
  complete?(typed: string, context: SlashContext): Promise<readonly string[]>;
  /** `argument` is everything after the name, trimmed, and passed `checkArgument`. Throws `HiError`s. */
  run(argument: string, context: SlashContext, signal: AbortSignal): AsyncIterable<SlashEvent>;
}
