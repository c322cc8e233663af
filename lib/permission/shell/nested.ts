import type { ShellName } from './shell-name.js';
import type { ShellWord } from './shell-word.js';

/** What the text of a command does not show. */
export interface Uncertainty {
  readonly reason: string;
  /** Whether commands that are not in the text may run. */
  readonly mayHideCommands: boolean;
}

/** The command that a command runs. */
export type NestedCommand =
  | { readonly kind: 'nothing' }
  /** The words from `start` on are a command. */
  | {
      readonly kind: 'words';
      readonly start: number;
      readonly assignments: readonly ShellWord[];
      readonly words: readonly ShellWord[];
    }
  /** One of its words is a script; `shell` is what runs it, absent for the shell that runs the command. */
  | { readonly kind: 'script'; readonly start: number; readonly script: string; readonly shell?: ShellName }
  | ({ readonly kind: 'unclear' } & Uncertainty);

/** It runs no other command. */
export const NOTHING: NestedCommand = { kind: 'nothing' };

/** It may run commands that are not in the text. */
export const hiddenCommand = (reason: string): NestedCommand => ({
  kind: 'unclear',
  reason,
  mayHideCommands: true,
});

/** It has an effect that a prefix of its words does not show. */
export const unclearEffect = (reason: string): NestedCommand => ({
  kind: 'unclear',
  reason,
  mayHideCommands: false,
});

/** The nested command that begins at `start`; `NOTHING` if no word is left. */
export function nestedFrom(
  words: readonly ShellWord[],
  start: number,
  assignments: readonly ShellWord[],
): NestedCommand {
  const rest = words.slice(start);
  return rest.length === 0 ? NOTHING : { kind: 'words', start, assignments, words: rest };
}
