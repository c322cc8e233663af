/** A message as input that is sent as that message: in quotes if it would be read as a command or as a block. */
export function quotedInput(message: string): string {
  return /^\s*(?:[/!]|""")/.test(message) ? `"""\n${message}\n"""` : message;
}
