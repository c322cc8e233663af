import { type Command, Option } from 'commander';
import { THINKING_LEVELS } from '../../chat/model.js';

/** Adds the options every command takes. */
export function addCommonOptions(command: Command): Command {
  return command
    .option('--config <file>', 'use this config.json')
    .option('--debug', 'log requests and responses to a file, keys masked, and show stack traces')
    .option('-q, --quiet', 'print only the answer and errors');
}

/** Adds the options that choose the model. */
export function addModelOptions(command: Command): Command {
  return command
    .option('-m, --model <name>', 'the model, or provider/name')
    .option('--provider <name>', 'the provider');
}

/** Adds the options of a turn. */
export function addChatOptions(command: Command): Command {
  return addModelOptions(addCommonOptions(command))
    .option('-s, --system <text>', 'the system prompt, instead of the configured preamble')
    .option('-f, --file <path>', 'attach a file: text, image, PDF, - for stdin, or a web address (repeatable)', collect)
    .option('--no-stream', 'print the answer only when it is complete')
    .option('--raw', "write the answer's bytes to a pipe as they come, without a newline at the end")
    .option('--no-tools', 'do not let the model use tools')
    .option('--tools <names>', 'let the model use only these tools', list)
    .addOption(new Option('--think <level>', 'how hard the model thinks').choices(THINKING_LEVELS))
    .option('--web', 'let the model search the web, and list its sources under the answer')
    .option('--no-web', 'do not let the model search the web')
    .option('-y, --yes', 'answer every question with yes; deny rules still refuse a tool call')
    .option('-n, --ephemeral', 'use the whole conversation, but do not add to it')
    .option('--fresh', 'send nothing said before, and keep this out of later requests; HI_FRESH=1 does the same')
    .option('--no-fresh', 'continue the conversation whatever HI_FRESH says')
    .option('-u, --usage', 'print the token usage on stderr');
}

/** Adds the options of an answer for programs. */
export function addFormatOptions(command: Command): Command {
  return command
    .addOption(
      new Option('-o, --output-format <format>', 'the output format')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    )
    .option('--json', 'the same as --output-format json');
}

/**
 * Adds an option that people know from other programs. It does nothing, because `hi` always continues the conversation,
 * and the help omits it.
 */
export function addContinueOption(command: Command): Command {
  return command.addOption(new Option('-c, --continue', 'continue the conversation').hideHelp());
}

/** Adds the option of an answer that is code. */
export function addExtractOption(command: Command): Command {
  return command.option('-x, --extract', 'print only the last code block of the answer');
}

/** Adds the option of a question that is asked with everything. */
export function addAllOption(command: Command): Command {
  return command.option('--all', 'send everything that fits, once; says the price first, and asks above $0.25');
}

/** Adds the options of an answer in JSON. */
export function addSchemaOptions(command: Command): Command {
  return command
    .option('--schema <schema>', "answer in JSON for this schema: a file, JSON Schema, or 'name, age int, tags []'")
    .option('--schema-multi <schema>', 'the same, for a list of such answers');
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
