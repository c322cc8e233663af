import { isInterpreter } from './hidden-commands.js';
import type { ShellPart } from './read-command.js';

/** The files that a line runs by name: programs by their path, what a shell reads, and what an interpreter is given. */
export function scriptFiles(parts: readonly ShellPart[]): readonly string[] {
  return parts.flatMap((part) => {
    if (part.kind !== 'command') return [];
    const [program, ...rest] = part.words;
    const named = program?.value?.includes('/') ? [program.value] : [];
    const given = isInterpreter(part.words) ? rest.flatMap(({ value }) => (isOperand(value) ? [value] : [])) : [];
    return [...named, ...given.slice(0, MOST_GIVEN), ...scriptFiles(part.inner?.parts ?? [])];
  });
}

/** `deno run x.ts`: the script is one of the first words, and what follows is its data. */
const MOST_GIVEN = 2;

const isOperand = (value: string | null): value is string => value !== null && /^[^-]/.test(value);
