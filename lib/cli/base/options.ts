import type { Command } from 'commander';
import type { AskAboutBook } from '../../books/consent.js';
import type { ThinkingLevel } from '../../chat/model.js';
import type { Elicit } from '../../mcp/base/elicitation.js';
import type { AskAboutInstructions } from '../../memory/instructions.js';
import type { Approve } from '../../tools/common/tool.js';
import type { SettingsOptions } from './settings.js';
import type { World } from './world.js';

/** The options of a turn, from the program and its subcommand together. */
export interface ChatOptions {
  readonly model?: string;
  readonly provider?: string;
  readonly system?: string;
  readonly file?: readonly string[];
  /** A file, or - for stdin, that lists more files; `hi ask` only. */
  readonly files0From?: string;
  /** The user's own command, with the words as its arguments; `hi ask` only. */
  readonly command?: string;
  /** The required form of the answer: a file with a JSON Schema, the schema itself, or a list of fields. */
  readonly schema?: string;
  /** The same for a list. */
  readonly schemaMulti?: string;
  /** Whether only the last block of code of the answer is printed; `hi ask` only. */
  readonly extract?: boolean;
  readonly stream: boolean;
  /** Whether an answer in a pipe is exactly the model's bytes. */
  readonly raw?: boolean;
  /** False for `--no-tools`, the names for `--tools a,b`, true when neither was given. */
  readonly tools: boolean | readonly string[];
  readonly think?: ThinkingLevel;
  readonly web?: boolean;
  readonly yes?: boolean;
  readonly ephemeral?: boolean;
  /** Whether everything is sent that fits; `hi ask` only. */
  readonly all?: boolean;
  /**
   * Whether the conversation stays out of it, and it out of the conversation; as `HI_FRESH` says where it is absent.
   */
  readonly fresh?: boolean;
  readonly outputFormat: OutputFormat;
  readonly json?: boolean;
  readonly usage?: boolean;
  /** All that were named with `-m`, if more than one; `hi ask` only. */
  readonly models?: readonly string[];
  /** Whether the question is kept for later; `hi ask` only. */
  readonly later?: boolean;
  /** Whether what was kept is asked; `hi ask` only. */
  readonly pending?: boolean;
  /** How long to wait for a server that says when it answers again; true without a limit; `hi ask` only. */
  readonly wait?: string | true;
  readonly quiet?: boolean;
  readonly config?: string;
  readonly debug?: boolean;
}

export type OutputFormat = 'text' | 'json' | 'stream-json';

/** The output format; `--json` is another way to say it. */
export const formatOf = (options: ChatOptions): OutputFormat => (options.json ? 'json' : options.outputFormat);

/** The options with `fresh` from the environment where the command line does not say. */
export function withFresh(options: ChatOptions, { HI_FRESH }: World['env']): ChatOptions {
  return { ...options, fresh: options.fresh ?? (HI_FRESH !== undefined && !['', '0'].includes(HI_FRESH)) };
}

/** The options of every command. */
export interface CommonOptions {
  readonly config?: string;
  readonly debug?: boolean;
  readonly quiet?: boolean;
}

/** Asks the user what a turn needs to know. Each rejects as an interruption if the user cancels the question. */
export interface Asker {
  /** Whether a tool may run. */
  readonly approve: Approve;
  /** Whether passages of an imported book may be sent. */
  readonly aboutBook: AskAboutBook;
  /** Whether the model may read the instructions of a project. */
  readonly aboutInstructions: AskAboutInstructions;
  /** What an MCP server wants to know. */
  readonly elicit: Elicit;
  /** Whether more may be spent than a limit. */
  aboveLimit(text: string, signal: AbortSignal): Promise<boolean>;
}

/** A command's options for its session. */
export interface SessionOptions extends SettingsOptions {
  readonly tools?: boolean | readonly string[];
  readonly yes?: boolean;
  readonly ephemeral?: boolean;
  /** Whether the session is an aside: without the conversation, and in no later request. */
  readonly fresh?: boolean;
  /** How hard the model should think. Overrides the configuration. */
  readonly think?: ThinkingLevel;
  /** Whether the model may search the web. Overrides the configuration. */
  readonly web?: boolean;
  readonly debug?: boolean;
  /** Asks the user; what is absent cannot be asked. */
  readonly ask?: Partial<Asker>;
  /** How long to wait for a server that says when it answers again, in milliseconds. */
  readonly longestWait?: number;
  /** Whether the session idles at a prompt, where summaries can be written while nobody waits. */
  readonly idles?: boolean;
  /** Whether MCP servers should report changes, which is useful only in a session that lasts. */
  readonly listens?: boolean;
}

/**
 * The options of a command and of those before it on the command line. Typed options win over defaults, and later ones
 * over earlier ones.
 */
export function mergedOptions<Options extends object>(command: Command): Options {
  const chain: Command[] = [];
  for (let one: Command | null = command; one !== null; one = one.parent) chain.unshift(one);
  const typed = chain.flatMap((one) =>
    Object.entries(one.opts()).filter(([key]) => one.getOptionValueSource(key) === 'cli'),
  );
  return Object.fromEntries([...Object.entries(command.opts()), ...typed]) as Options;
}
