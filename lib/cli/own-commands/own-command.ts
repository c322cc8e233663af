import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { HiError, systemCode } from '../../errors.js';
import { readRegularFile } from '../../regular-file.js';
import { isFields, readFields, splitFrontmatter } from '../../skills/find/frontmatter.js';

/** One of the user's own commands: `NAME.md` in the folder `commands` of the configuration. */
export interface OwnCommand {
  /** What is typed after the slash: the file's name, after its folder and a colon if it is in one. */
  readonly name: string;
  readonly path: string;
}

/** The contents of a command's file. */
export interface CommandText {
  /** What the command does, on one line: its description, or else its first line of text. */
  readonly description: string;
  /** The model that answers it, null for the one in use. */
  readonly model: string | null;
  /** Describes its arguments, for the help; null if the file does not. */
  readonly argumentHint: string | null;
  /** The text that is sent, before anything in it is filled in. */
  readonly body: string;
}

/** A name that can be typed as one word and that a terminal shows unchanged. */
const NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u;

/** The commands in `folder`, and in the folders directly inside it, by name. None where the folder cannot be read. */
export function findOwnCommands(folder: string): readonly OwnCommand[] {
  const found = filesIn(folder, '').concat(
    entriesIn(folder)
      .filter((entry) => entry.isDirectory() && NAME.test(entry.name))
      .flatMap(({ name }) => filesIn(join(folder, name), `${name}:`)),
  );
  return found.sort((one, other) => (one.name < other.name ? -1 : 1));
}

function filesIn(folder: string, prefix: string): readonly OwnCommand[] {
  return entriesIn(folder).flatMap((entry) => {
    const name = entry.name.endsWith('.md') ? entry.name.slice(0, -3) : '';
    return NAME.test(name) && !entry.isDirectory() ? [{ name: prefix + name, path: join(folder, entry.name) }] : [];
  });
}

function entriesIn(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Reads a command's file. Throws a `HiError` of code `usage` for one that cannot be read or holds no text. */
export async function readOwnCommand({ name, path }: OwnCommand): Promise<CommandText> {
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
  return { description, model: field('model'), argumentHint: field('argument-hint'), body: text };
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
