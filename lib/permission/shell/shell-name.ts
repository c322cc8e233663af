/** The shell that runs a command. `sh` is any shell other than bash; only POSIX syntax is assumed for it. */
export type ShellName = 'bash' | 'sh';
