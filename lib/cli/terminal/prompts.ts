import type { World } from '../base/world.js';
import { askQuestion } from './ask-question.js';
import { input, password, search, select } from './inquirer.js';

/** The questions of the set-up, on the terminal. Each rejects as an interruption when the user cancels it. */
export interface Prompts {
  say(text: string): void;
  select<Value extends string>(message: string, choices: readonly (readonly [Value, string])[]): Promise<Value>;
  /** A choice among many, narrowed by typing. What is typed can be chosen too. */
  search(message: string, choices: readonly string[]): Promise<string>;
  input(message: string, check: (text: string) => true | string): Promise<string>;
  /** Input that is not shown. */
  secret(message: string, check: (text: string) => true | string): Promise<string>;
}

/** Opens prompts on stderr, so that stdout stays free for answers. A question that is open when `signal` aborts rejects. */
export async function openPrompts(world: World, signal: AbortSignal): Promise<Prompts> {
  const streams = { input: world.stdin, output: world.stderr, signal };
  return {
    say: (text) => void world.stderr.write(`${text}\n`),
    select: (message, choices) =>
      askQuestion(
        (context) => select({ message, choices: choices.map(([value, name]) => ({ value, name })) }, context),
        streams,
      ),
    search: (message, choices) =>
      askQuestion(
        (context) =>
          search({ message, source: (typed) => narrowed(choices, typed ?? '').map((value) => ({ value })) }, context),
        streams,
      ),
    input: (message, check) => askQuestion((context) => input({ message, validate: check }, context), streams),
    secret: (message, check) =>
      askQuestion((context) => password({ message, mask: '*', validate: check }, context), streams),
  };
}

function narrowed(choices: readonly string[], typed: string): readonly string[] {
  const found = choices.filter((choice) => choice.toLowerCase().includes(typed.toLowerCase()));
  return typed === '' || choices.includes(typed) ? found : [...found, typed];
}
