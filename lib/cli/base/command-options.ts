import type { Command } from 'commander';
import { Option } from 'commander';

/** What the options of a turn come to, from the program and its subcommand together. */
export interface ChatOptions {
  readonly model?: string;
  readonly provider?: string;
  readonly system?: string;
  readonly file?: readonly string[];
  readonly stream: boolean;
  /** False for `--no-tools`, the names for `--tools a,b`, true when neither was given. */
  readonly tools: boolean | readonly string[];
  readonly yes?: boolean;
  readonly ephemeral?: boolean;
  readonly outputFormat: OutputFormat;
  readonly json?: boolean;
  readonly usage?: boolean;
  readonly quiet?: boolean;
  readonly config?: string;
  readonly debug?: boolean;
}

export type OutputFormat = 'text' | 'json' | 'stream-json';

/** What every command takes. */
export interface CommonOptions {
  readonly config?: string;
  readonly debug?: boolean;
  readonly quiet?: boolean;
}

/** Adds the options every command takes. */
export function addCommonOptions(command: Command): Command {
  return command
    .option('--config <file>', 'use this config.json')
    .option('--debug', 'write requests and responses to a log file, keys masked; show where an error comes from')
    .option('-q, --quiet', 'only the answer and errors');
}

/** Adds the options that choose whose models to talk to. */
export function addModelOptions(command: Command): Command {
  return command
    .option('-m, --model <name>', 'the model, also as provider/name')
    .option('--provider <name>', 'whose models to talk to');
}

/** Adds the options of a turn. */
export function addChatOptions(command: Command): Command {
  return addModelOptions(addCommonOptions(command))
    .option('-s, --system <text>', 'the system prompt, in place of the configured preamble')
    .option('-f, --file <path>', 'attach a file: text, image, PDF, or - for stdin (repeatable)', collect)
    .option('--no-stream', 'print the answer when it is complete')
    .option('--no-tools', 'do not let the model use tools')
    .option('--tools <names>', 'let the model use only these tools', list)
    .option('-y, --yes', 'answer yes: allow every tool call of this run, except what a deny rule names')
    .option('-n, --ephemeral', 'full context, but write nothing')
    .addOption(
      new Option('-o, --output-format <format>', 'how to print')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    )
    .option('--json', 'the same as --output-format json')
    .option('-u, --usage', 'tell the usage on stderr');
}

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function list(value: string): readonly string[] {
  return value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
