/** The shell that runs a command: `sh` is any other than bash, of which no more is known than what POSIX says. */
export type ShellName = 'bash' | 'sh';
