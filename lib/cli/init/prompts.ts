import { askQuestion } from '../base/ask-question.js';
import type { World } from '../base/world.js';

/** The questions of the set-up, on the terminal. Each rejects as an interruption when the user leaves. */
export interface Prompts {
  say(text: string): void;
  select<Value extends string>(message: string, choices: readonly (readonly [Value, string])[]): Promise<Value>;
  /** A choice among many, narrowed by typing; what is typed can be chosen too. */
  search(message: string, choices: readonly string[]): Promise<string>;
  input(message: string, check: (text: string) => true | string): Promise<string>;
  /** Typed without being shown. */
  secret(message: string, check: (text: string) => true | string): Promise<string>;
}

/** Prompts on stderr, so that stdout stays free for answers. A question that is open when `signal` aborts rejects. */
export async function openPrompts(world: World, signal: AbortSignal): Promise<Prompts> {
  const { select, search, input, password } = await import('../base/inquirer.js');
  const context = { input: world.stdin, output: world.stderr, signal };
  return {
    say: (text) => void world.stderr.write(`${text}\n`),
    select: (message, choices) =>
      askQuestion(
        (asking) => select({ message, choices: choices.map(([value, name]) => ({ value, name })) }, asking),
        context,
      ),
    search: (message, choices) =>
      askQuestion(
        (asking) =>
          search({ message, source: (typed) => narrowed(choices, typed ?? '').map((value) => ({ value })) }, asking),
        context,
      ),
    input: (message, check) => askQuestion((asking) => input({ message, validate: check }, asking), context),
    secret: (message, check) =>
      askQuestion((asking) => password({ message, mask: '*', validate: check }, asking), context),
  };
}

function narrowed(choices: readonly string[], typed: string): readonly string[] {
  const found = choices.filter((choice) => choice.toLowerCase().includes(typed.toLowerCase()));
  return typed === '' || choices.includes(typed) ? found : [...found, typed];
}
