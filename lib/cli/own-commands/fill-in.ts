/** A command's text with everything filled in. */
export interface FilledIn {
  readonly text: string;
  /** The ranges that were filled in, in which an `@` is ordinary text. */
  readonly inserted: readonly { readonly start: number; readonly end: number }[];
}

/** What follows a command's name. */
export interface CommandArgument {
  readonly text: string;
  readonly words: readonly string[];
}

/** `$ARGUMENTS` and `$1` to `$9`; a shell command in `` !`…` ``, or on a line of its own that begins with `!`. */
const PLACE = /\$(ARGUMENTS\b|[1-9](?!\d))|!`([^`\n]+)`|(?<=^|\n)!([^\s`![][^\n]*)/g;

/**
 * Fills in the arguments and the output of shell commands in the text. Filled-in text is not expanded. A text without placeholders gets the arguments appended.
 */
export async function fillIn(
  body: string,
  argument: CommandArgument,
  run: (command: string) => Promise<string>,
): Promise<FilledIn> {
  const inserted: { start: number; end: number }[] = [];
  let text = '';
  const insert = (value: string): void => {
    inserted.push({ start: text.length, end: text.length + value.length });
    text += value;
  };
  let at = 0;
  let isTold = argument.text === '';
  for (const match of body.matchAll(PLACE)) {
    const [whole, name, quoted, line] = match;
    text += body.slice(at, match.index);
    at = match.index + whole.length;
    isTold ||= name !== undefined || /\$(?:ARGUMENTS\b|[1-9@*])/.test(whole);
    if (name === 'ARGUMENTS') insert(argument.text);
    else if (name !== undefined) insert(argument.words[Number(name) - 1] ?? '');
    else insert((await run(quoted ?? line ?? '')).trimEnd());
  }
  text += body.slice(at);
  if (!isTold) {
    text += '\n\n';
    insert(argument.text);
  }
  return { text, inserted };
}

/** Splits an argument into words like a shell: at spaces, except in quotes. An unclosed quote is an ordinary character. */
export function argumentOf(text: string): CommandArgument {
  const words = text.matchAll(/(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)|[^\s"'\\]|["'\\])+/gs);
  const plain = [...words].map(([word]) =>
    word.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/gs, (_all, double, single, escaped) =>
      double === undefined ? (single ?? escaped) : double.replace(/\\(["\\$`])/g, '$1'),
    ),
  );
  return { text, words: plain };
}
