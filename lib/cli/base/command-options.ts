import type { ThinkingLevel } from '../../chat/model.js';
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
  /** Whether the conversation stays out of it, and it out of the conversation; as `HI_FRESH` says where it is absent. */
  readonly fresh?: boolean;
  readonly outputFormat: OutputFormat;
  readonly json?: boolean;
  readonly usage?: boolean;
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
