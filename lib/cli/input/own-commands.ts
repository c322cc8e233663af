import { type Dirent, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { quantity } from '../../chat/text.js';
import type { CommandFolders } from '../../config/paths.js';
import { readRegularFile } from '../../disk.js';
import { HiError, systemCode } from '../../errors.js';
import { pick } from '../../registry.js';
import type { UserInput } from '../../session/common/deps.js';
import { isFields, readFields, splitFrontmatter } from '../../skills/describe.js';
import type { SlashCommand, SlashEvent } from '../../slash/common/command.js';
import type { ToolContext } from '../../tools/common/tool.js';
import { localOutput } from './local-command.js';
import { type MentionDeps, resolveMentions } from './mentions.js';

/**
 * One of the user's own commands: `NAME.md` in the folder `commands` of the configuration, or where another program has
 * its commands.
 */
export interface OwnCommand {
  /** What is typed after the slash: the file's name, after its folder and a colon if it is in one. */
  readonly name: string;
  readonly path: string;
  /** Whether it was written for another program: nothing in it is run, and the model that it names is not asked. */
  readonly isForeign: boolean;
}

/** The contents of a command's file. */
interface CommandText {
  /** What the command does, on one line: its description, or else its first line of text. */
  readonly description: string;
  /** The model that answers it, null for the one in use. */
  readonly model: string | null;
  /** Describes its arguments, for the help; null if the file does not. */
  readonly argumentHint: string | null;
  /** The text that is sent, before anything in it is filled in. */
  readonly body: string;
  readonly isForeign: boolean;
}

/** A name that can be typed as one word and that a terminal shows unchanged. */
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u;

/**
 * The commands in these folders, and in the folders directly inside them, by name; of one name the first folder's. None
 * where a folder cannot be read.
 */
export function findOwnCommands({ own, foreign }: CommandFolders): readonly OwnCommand[] {
  const found = new Map<string, OwnCommand>();
  for (const folder of [own, ...foreign])
    for (const file of commandsIn(folder))
      if (!found.has(file.name)) found.set(file.name, { ...file, isForeign: folder !== own });
  return [...found.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

type CommandFile = Pick<OwnCommand, 'name' | 'path'>;

function commandsIn(folder: string): readonly CommandFile[] {
  const entries = entriesIn(folder);
  const inside = entries.filter((entry) => entry.isDirectory() && NAME.test(entry.name));
  return [
    ...filesIn(folder, entries, ''),
    ...inside.flatMap(({ name }) => filesIn(join(folder, name), entriesIn(join(folder, name)), `${name}:`)),
  ];
}

function filesIn(folder: string, entries: readonly Dirent[], prefix: string): readonly CommandFile[] {
  return entries.flatMap((entry) => {
    const name = entry.name.endsWith('.md') ? entry.name.slice(0, -3) : '';
    return NAME.test(name) && !entry.isDirectory() ? [{ name: prefix + name, path: join(folder, entry.name) }] : [];
  });
}

function entriesIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Reads a command's file. Throws a `HiError` of code `usage` for one that cannot be read or holds no text. */
async function readOwnCommand({ name, path, isForeign }: OwnCommand): Promise<CommandText> {
  const { yaml, body } = splitFrontmatter(textOf(name, path).replace(/\r\n?/g, '\n'));
  const { fields } = yaml === null ? { fields: {} } : await readFields(yaml);
  const field = (key: string): string | null => {
    const value = isFields(fields) ? fields[key] : undefined;
    return typeof value === 'string' && value.trim() !== '' ? value.replace(/\s+/g, ' ').trim() : null;
  };
  const text = body.trim();
  if (text === '')
    throw new HiError('usage', `The command /${name} is empty: '${path}'.`, { hint: 'Write what to ask into it.' });
  const description = field('description') ?? (text.split('\n')[0] ?? '').replace(/^#+\s*/, '').slice(0, 100);
  const model = isForeign ? null : field('model');
  return { description, model, argumentHint: field('argument-hint'), body: text, isForeign };
}

function textOf(name: string, path: string): string {
  try {
    return new TextDecoder().decode(readRegularFile(path));
  } catch (cause) {
    throw new HiError(
      'usage',
      `Cannot read the command /${name}: '${path}' (${systemCode(cause) ?? 'unknown error'}).`,
      {
        hint: "Check its owner and mode with 'ls -l'.",
        cause,
      },
    );
  }
}

/** What filling in a command's text needs. */
export interface OwnInputDeps {
  readonly tools: ToolContext;
  /** The keys to hide in the output of shell commands. */
  secrets(): Promise<readonly string[]>;
  /** Finds the MCP resource that a mention names. */
  readonly resource: NonNullable<MentionDeps['resource']>;
}

/**
 * The input made by the user's own command: its text with the arguments, the output of its shell commands, and the
 * files it mentions. Shell commands in one that was written for another program stay text. Resolves with a notice about
 * those files, and one about what was not run; null for none. Throws a `HiError` of code `usage` when a shell command
 * fails or a file cannot be attached.
 */
async function ownInput(
  { body, isForeign }: CommandText,
  argument: CommandArgument,
  { tools, secrets, resource }: OwnInputDeps,
  signal: AbortSignal,
): Promise<{ readonly input: UserInput; readonly notice: string | null; readonly unrun: string | null }> {
  const run = async (command: string): Promise<string> =>
    localOutput({ command, before: settingArguments(argument) }, tools, await secrets(), signal);
  const { text, inserted, unrun } = await fillIn(body, argument, isForeign ? null : run);
  const { input, notice } = await resolveMentions(text, inserted, tools.cwd.now, signal, { resource });
  return { input, notice, unrun: unrun === 0 ? null : notRun(unrun) };
}

const notRun = (count: number): string =>
  `${quantity(count, 'shell command')} in it ${count === 1 ? 'is' : 'are'} sent as text: a command that was written for another program runs nothing.`;

/** The shell itself expands `$1`, `$@` and `$ARGUMENTS`, so that what the user typed is data, never code. */
function settingArguments({ text, words }: CommandArgument): string {
  return `ARGUMENTS=${quoted(text)}; set -- ${words.map(quoted).join(' ')}`;
}

const quoted = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/**
 * The user's commands as slash commands. One with a name in `others` is left out, so that built-in commands keep their
 * meaning.
 */
export async function ownSlashCommands(
  folders: CommandFolders,
  others: readonly SlashCommand[],
  deps: OwnInputDeps,
): Promise<readonly SlashCommand[]> {
  const taken = new Set(others.flatMap(({ name, aliases = [] }) => [name, ...aliases]));
  const own = findOwnCommands(folders).filter(({ name }) => !taken.has(name));
  return await Promise.all(own.map((command) => asSlashCommand(command, deps)));
}

async function asSlashCommand(command: OwnCommand, deps: OwnInputDeps): Promise<SlashCommand> {
  const { name } = command;
  const text = await readOwnCommand(command).catch(() => null);
  const hint = text?.argumentHint ?? '[arguments]';
  return {
    name,
    usage: `/${name} ${hint}`,
    summary: text?.description ?? 'cannot be read',
    takesWords: true,
    async *run(argument, { session }, signal): AsyncGenerator<SlashEvent> {
      const current = await readOwnCommand(command);
      const { input, notice, unrun } = await ownInput(current, argumentOf(argument), deps, signal);
      for (const text of [unrun, notice]) if (text !== null) yield { type: 'notice', level: 'info', text };
      yield* session.send(input, signal, { model: current.model });
    },
  };
}

/** The name of a command, where commands are, and the words after the name. */
export interface AskedCommand {
  readonly folders: CommandFolders;
  readonly name: string;
  readonly words: readonly string[];
}

/**
 * The input made by the user's own command, after piped input and attachments, and a notice about what was not run, or
 * null. Throws a `HiError` if there is no such command.
 */
export async function askedCommand(
  { folders, name, words }: AskedCommand,
  gathered: UserInput,
  deps: OwnInputDeps,
  signal: AbortSignal,
): Promise<{ readonly input: UserInput; readonly model: string | null; readonly unrun: string | null }> {
  const command = await readOwnCommand(pick(findOwnCommands(folders), name.replace(/^\//, ''), 'command', 'usage'));
  const typed = words.filter((word) => word !== '-');
  const argument = { text: typed.join(' '), words: typed };
  const { input, unrun } = await ownInput(command, argument, deps, signal);
  const texts = [...gathered.texts, ...input.texts];
  const attachments = [...gathered.attachments, ...input.attachments];
  return { input: { text: input.text, texts, attachments }, model: command.model, unrun };
}

/** A command's text with everything filled in. */
interface FilledIn {
  readonly text: string;
  /** The ranges that were filled in, in which an `@` is ordinary text. */
  readonly inserted: readonly { readonly start: number; readonly end: number }[];
  /** How many shell commands stayed text. */
  readonly unrun: number;
}

/** What follows a command's name. */
interface CommandArgument {
  readonly text: string;
  readonly words: readonly string[];
}

/** `$ARGUMENTS` and `$1` to `$9`; a shell command in `` !`…` ``, or on a line of its own that begins with `!`. */
const PLACE = /\$(ARGUMENTS\b|[1-9](?!\d))|!`([^`\n]+)`|(?<=^|\n)!([^\s`![][^\n]*)/g;

/**
 * Fills in the arguments and the output of shell commands in the text; without `run` these stay text. Filled-in text is
 * not expanded. A text without placeholders gets the arguments appended.
 */
export async function fillIn(
  body: string,
  argument: CommandArgument,
  run: ((command: string) => Promise<string>) | null,
): Promise<FilledIn> {
  const inserted: { start: number; end: number }[] = [];
  let text = '';
  const insert = (value: string): void => {
    inserted.push({ start: text.length, end: text.length + value.length });
    text += value;
  };
  let at = 0;
  let isTold = argument.text === '';
  let unrun = 0;
  for (const match of body.matchAll(PLACE)) {
    const [whole, name, quoted, line] = match;
    text += body.slice(at, match.index);
    at = match.index + whole.length;
    isTold ||= name !== undefined || /\$(?:ARGUMENTS\b|[1-9@*])/.test(whole);
    if (name === 'ARGUMENTS') insert(argument.text);
    else if (name !== undefined) insert(argument.words[Number(name) - 1] ?? '');
    else if (run !== null) insert((await run(quoted ?? line ?? '')).trimEnd());
    else {
      text += whole;
      unrun += 1;
    }
  }
  text += body.slice(at);
  if (!isTold) {
    text += '\n\n';
    insert(argument.text);
  }
  return { text, inserted, unrun };
}

/**
 * Splits an argument into words like a shell: at spaces, except in quotes. An unclosed quote is an ordinary character.
 */
export function argumentOf(text: string): CommandArgument {
  const words = text.matchAll(/(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)|[^\s"'\\]|["'\\])+/gs);
  const plain = [...words].map(([word]) =>
    word.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/gs, (_all, double, single, escaped) =>
      double === undefined ? (single ?? escaped) : double.replace(/\\(["\\$`])/g, '$1'),
    ),
  );
  return { text, words: plain };
}
