import type { Uncertainty } from './escape-options.js';
import type { ShellWord } from './shell-word.js';

/** What a command runs besides itself. */
export type NestedCommand =
  | { readonly kind: 'nothing' }
  /** Other words of it are a command. `start` is where that command's name stands. */
  | {
      readonly kind: 'words';
      readonly start: number;
      readonly assignments: readonly ShellWord[];
      readonly words: readonly ShellWord[];
    }
  /** One of its words is a script. */
  | { readonly kind: 'script'; readonly start: number; readonly script: string }
  | ({ readonly kind: 'unclear' } & Uncertainty);

/** It runs nothing besides itself. */
export const NOTHING: NestedCommand = { kind: 'nothing' };

/** It may run commands that nobody sees. */
export const hiddenCommand = (reason: string): NestedCommand => ({
  kind: 'unclear',
  reason,
  index: Number.POSITIVE_INFINITY,
  mayHideCommands: true,
});

/** It does something that no prefix of its words tells. */
export const unclearEffect = (reason: string): NestedCommand => ({
  kind: 'unclear',
  reason,
  index: Number.POSITIVE_INFINITY,
  mayHideCommands: false,
});

/** The command that begins at `start`; nothing where there is none. */
export function nestedFrom(
  words: readonly ShellWord[],
  start: number,
  assignments: readonly ShellWord[],
): NestedCommand {
  const rest = words.slice(start);
  return rest.length === 0 ? NOTHING : { kind: 'words', start, assignments, words: rest };
}
