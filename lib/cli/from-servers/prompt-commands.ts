import { HiError } from '../../errors.js';
import type { PromptDefinition } from '../../mcp/definitions/definition.js';
import type { ServerPrompt, UserCalls } from '../../mcp/user-calls.js';
import type { SlashCommand, SlashContext, SlashEvent } from '../../slash/common/command.js';

/** Makes commands of what servers offer. */
export type PromptCommands = (servers: UserCalls, taken: readonly SlashCommand[]) => readonly SlashCommand[];

/** The prompts of servers as commands of the chat: `/SERVER:PROMPT`. One whose name is taken is left out: a command of the user's own always means the same. */
export const promptCommands: PromptCommands = (servers, taken) => {
  const names = new Set(taken.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
  return servers.prompts.filter(({ typed }) => !names.has(typed)).map((prompt) => promptCommand(servers, prompt));
};

function promptCommand(servers: UserCalls, prompt: ServerPrompt): SlashCommand {
  const { typed, server, definition } = prompt;
  const words = definition.arguments.map(({ name, required }) => (required ? name : `[${name}]`));
  return {
    name: typed,
    usage: [`/${typed}`, ...words].join(' '),
    summary: `${definition.description || 'a prompt'} (of the server '${server}')`,
    takesWords: true,
    complete: async (typedWords) => argumentNames(definition, typedWords),
    async *run(argument, context, signal): AsyncGenerator<SlashEvent> {
      const { argumentsIn } = await import('./prompt-arguments.js');
      const args = await withMissing(prompt, argumentsIn(definition, typed, argument), context);
      const result = await servers.prompt(prompt, args, signal);
      const { serverInput, sizeText } = await import('./attach-resource.js');
      const input = serverInput('prompt', { server, name: definition.name }, `/${typed}`, result);
      if (input.texts.length + input.attachments.length === 0)
        throw new HiError('usage', `The prompt /${typed} is empty.`, { hint: 'Nothing was sent.' });
      yield { type: 'notice', level: 'info', text: `prompt ${typed} (${sizeText(result)})` };
      // What is taken back is the command.
      yield* context.session.send({ ...input, text: `/${typed} ${argument}`.trim() }, signal);
    },
  };
}

/** The names that may be typed next, as `name=`. */
function argumentNames({ arguments: all }: PromptDefinition, typed: string): readonly string[] {
  const before = typed.slice(0, typed.lastIndexOf(' ') + 1);
  return all.map(({ name }) => `${before}${name}=`).filter((one) => !typed.includes(one.slice(before.length)));
}

/** The arguments, with what the user was asked for. Throws a `HiError` that names what is missing where nobody can be asked. */
async function withMissing(
  { typed, server, definition }: ServerPrompt,
  given: Readonly<Record<string, string>>,
  { input }: SlashContext,
): Promise<Readonly<Record<string, string>>> {
  const args: Record<string, string> = { ...given };
  for (const { name, description, required } of definition.arguments) {
    if (!required || Object.hasOwn(args, name)) continue;
    if (input === null)
      throw new HiError('usage', `/${typed} needs '${name}'.`, { hint: `Type: /${typed} ${name}=VALUE` });
    const about = description === '' ? '' : ` (${description})`;
    args[name] = await input(`The server '${server}' needs for its prompt: ${name}${about}`);
  }
  return args;
}
