import * as prompts from '@inquirer/prompts';
import { wrappedQuestion } from './wrapped-question.js';

/*
 * The kinds of question the program asks, so that the bundle holds no others. Loaded when something is asked. The package would cut the words of a
 * question at the end of a row.
 */

export const confirm: typeof prompts.confirm = (config, context) =>
  prompts.confirm(withWrappedMessage(config, context), context);

export const input: typeof prompts.input = (config, context) =>
  prompts.input(withWrappedMessage(config, context), context);

export const password: typeof prompts.password = (config, context) =>
  prompts.password(withWrappedMessage(config, context), context);

export const search: typeof prompts.search = (config, context) =>
  prompts.search(withWrappedMessage(config, context), context);

export const select: typeof prompts.select = (config, context) =>
  prompts.select(withWrappedMessage(config, context), context);

function withWrappedMessage<Config extends { message: string }>(
  config: Config,
  context: { readonly output?: NodeJS.WritableStream } | undefined,
): Config {
  const { columns = 80 } = (context?.output ?? process.stderr) as { readonly columns?: number };
  return { ...config, message: wrappedQuestion(config.message, columns) };
}
