/** A program with its arguments, as `spawn` takes them. */
export interface ShellCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Windows: the command line is passed on as it is. */
  readonly options: { readonly windowsVerbatimArguments?: true; readonly windowsHide?: true };
}

/** What of the system chooses the shell. */
export interface ShellSystem {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * A command line of the user's own, such as a key command, a pager or an editor with its options, for the system's
 * shell; with `args` behind it, each one word whatever is in it. `shell` is the one the user has chosen.
 */
export function shellCommand(
  command: string,
  args: readonly string[] = [],
  { platform, env }: ShellSystem = process,
  shell = '/bin/sh',
): ShellCommand {
  if (platform !== 'win32') {
    const rest = args.length === 0 ? [command] : [`${command} "$@"`, 'sh', ...args];
    return { file: shell, args: ['-c', ...rest], options: {} };
  }
  // `/s` removes the outer quotes and nothing else.
  const line = [command, ...args.map((arg) => `"${arg}"`)].join(' ');
  const options = { windowsVerbatimArguments: true, windowsHide: true } as const;
  return { file: env.ComSpec || 'cmd.exe', args: ['/d', '/s', '/c', `"${line}"`], options };
}
