import { textBlock } from '../../chat/marked-text.js';
import { estimateTokens } from '../../chat/request.js';
import { quantity, sizeText } from '../../chat/text.js';
import { HiError } from '../../errors.js';
import type { CallResult } from '../../mcp/calls/read-result.js';
import type { PromptDefinition } from '../../mcp/definitions/definition.js';
import type { ServerPrompt, ServerResource, UserCalls } from '../../mcp/tool-servers.js';
import { inputFrom, LARGEST } from '../../session/input.js';
import type { SlashCommand, SlashContext, SlashEvent } from '../../slash/common/command.js';
import { type AttachedResource, type MentionDeps, mentionsIn } from './mentions.js';
import { argumentOf } from './own-commands.js';

/** Makes commands of what servers offer. */
export type PromptCommands = (servers: UserCalls, taken: readonly SlashCommand[]) => readonly SlashCommand[];

/**
 * The prompts of servers as commands of the chat: `/SERVER:PROMPT`. One whose name is taken is left out: a command of
 * the user's own always means the same.
 */
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
      const args = await withMissing(prompt, argumentsIn(definition, typed, argument), context);
      const result = await servers.prompt(prompt, args, signal);
      const input = serverInput('prompt', { server, name: definition.name }, `/${typed}`, result);
      if (input.texts.length + input.attachments.length === 0)
        throw new HiError('usage', `The prompt /${typed} is empty.`, { hint: 'Nothing was sent.' });
      yield { type: 'notice', level: 'info', text: `prompt ${typed} (${contentText(result)})` };
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

/**
 * The arguments, with what the user was asked for. Throws a `HiError` that names what is missing where nobody can be
 * asked.
 */
async function withMissing(
  { typed, server, definition }: ServerPrompt,
  given: Readonly<Record<string, string>>,
  { ask }: SlashContext,
): Promise<Readonly<Record<string, string>>> {
  const args: Record<string, string> = { ...given };
  for (const { name, description, required } of definition.arguments) {
    if (!required || Object.hasOwn(args, name)) continue;
    if (ask.input === null)
      throw new HiError('usage', `/${typed} needs '${name}'.`, { hint: `Type: /${typed} ${name}=VALUE` });
    const about = description === '' ? '' : ` (${description})`;
    args[name] = await ask.input(`The server '${server}' needs for its prompt: ${name}${about}`);
  }
  return args;
}

/**
 * The arguments of a prompt in what follows its name: `name=value`, or values in the order of the arguments, of which
 * the last one takes all that is left. Throws a `HiError` for words that no argument takes.
 */
function argumentsIn(
  { arguments: all }: PromptDefinition,
  typed: string,
  text: string,
): Readonly<Record<string, string>> {
  const args: Record<string, string> = {};
  const others: string[] = [];
  for (const word of argumentOf(text).words) {
    const name = all.find((one) => word.startsWith(`${one.name}=`))?.name;
    if (name === undefined || Object.hasOwn(args, name)) others.push(word);
    else args[name] = word.slice(name.length + 1);
  }
  const open = all.filter(({ name }) => !Object.hasOwn(args, name));
  for (const [index, { name }] of open.entries()) {
    if (others.length === 0) break;
    args[name] = (index === open.length - 1 ? others.splice(0) : others.splice(0, 1)).join(' ');
  }
  if (others.length > 0)
    throw new HiError('usage', `/${typed} takes no more arguments: '${others.join(' ')}'.`, {
      hint: all.length === 0 ? `Type: /${typed}` : `It takes: ${all.map(({ name }) => name).join(', ')}.`,
    });
  return args;
}

/** A server's content, as attached to a message. Its texts are not the user's words. */
type ServerInput = Omit<AttachedResource, 'label'>;

/** Reads the resource that a mention names. Throws a `HiError` if it cannot be read or sent. */
export async function attachResource(
  servers: UserCalls,
  resource: ServerResource,
  signal: AbortSignal,
): Promise<AttachedResource> {
  const { typed, server, uri } = resource;
  const result = await servers.read(resource, signal);
  if (result.text === '' && result.files.length === 0)
    throw new HiError('usage', `Cannot attach '@${typed}': It is empty.`, {
      hint: 'Check the address; nothing was sent.',
    });
  const input = serverInput('resource', { server, uri }, typed, result);
  return { ...input, label: `${typed} (${contentText(result)})` };
}

/**
 * A server's content in a block that names the server. Throws a `HiError` of code `usage` for content that no model
 * supports.
 */
function serverInput(
  tag: 'prompt' | 'resource',
  attributes: Readonly<Record<string, string>>,
  name: string,
  { text, files }: CallResult,
): ServerInput {
  for (const size of [Buffer.byteLength(text), ...files.map(({ bytes }) => bytes.length)])
    if (size > LARGEST)
      throw new HiError(
        'usage',
        `Cannot attach '${name}': It has ${sizeText(size)}, and the limit is ${sizeText(LARGEST)}.`,
        { hint: 'Nothing was sent.' },
      );
  const inputs = files.map(({ bytes }) => inputFrom(bytes, name));
  const texts = [text, ...inputs.flatMap((input) => ('text' in input ? [input.text] : []))].filter(Boolean);
  return {
    texts: texts.map((one) => textBlock(tag, attributes, one)),
    attachments: inputs.flatMap((input) => ('attachment' in input ? [input.attachment] : [])),
  };
}

/** `12 tokens, 1 file` */
function contentText({ text, files }: CallResult): string {
  const tokens = estimateTokens(text.length);
  const words = text === '' ? [] : [quantity(tokens, 'token')];
  return [...words, ...(files.length > 0 ? [quantity(files.length, 'file')] : [])].join(', ');
}

/** The resources that a text mentions as `@SERVER:uri`, each once. Throws a `HiError` if one cannot be read. */
export async function mentionedResources(
  text: string,
  read: NonNullable<MentionDeps['resource']>,
  signal: AbortSignal,
): Promise<readonly AttachedResource[]> {
  const found: AttachedResource[] = [];
  for (const { paths } of mentionsIn(text, [])) {
    const resource = await read(
      paths.map(({ path }) => path),
      signal,
    );
    if (resource !== null && found.every(({ label }) => label !== resource.label)) found.push(resource);
  }
  return found;
}
