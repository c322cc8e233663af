/** What a line of input is. */
export type Line =
  /** Only white space. */
  | { readonly kind: 'empty' }
  | { readonly kind: 'message' }
  | { readonly kind: 'command'; readonly name: string; readonly argument: string }
  /** A shell command of the user's own. With `shared`, its output goes into the conversation. */
  | { readonly kind: 'shell'; readonly command: string; readonly shared: boolean };

/**
 * Reads a line by how it starts on the screen: `/name` is a slash command, `//x` the message `/x`, `!cmd` runs a command and shares its
 * output, `!!cmd` only runs it. A line that starts with a path, such as `/etc/hosts`, is a message: no command has a slash in its name.
 */
export function parseLine(shown: string): Line {
  const line = shown.trim();
  if (line === '') return { kind: 'empty' };
  const shell = /^(!!?)\s*([\s\S]*)$/.exec(line);
  if (shell) return { kind: 'shell', command: shell[2] ?? '', shared: shell[1] === '!' };
  const command = /^\/([^/\s]*)(?:\s+([\s\S]*))?$/.exec(line);
  if (command) return { kind: 'command', name: command[1] ?? '', argument: (command[2] ?? '').trim() };
  return { kind: 'message' };
}
