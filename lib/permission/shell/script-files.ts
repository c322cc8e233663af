import { programName } from './program-name.js';
import type { ShellPart } from './read-command.js';

/** Programs that run a file which they are given. */
const INTERPRETER =
  /^(?:python|pypy|perl|ruby|node|nodejs|bun|deno|php|lua|tclsh|expect|Rscript|osascript|source|\.|(?:ba|da|z|k|a|)sh)[\d.]*$/;

/** The files that a line runs by name: programs with a path, and the scripts of shells and interpreters. */
export function scriptFiles(parts: readonly ShellPart[]): readonly string[] {
  return parts.flatMap((part) => {
    if (part.kind !== 'command') return [];
    const [program, ...rest] = part.words;
    const named = program?.value?.includes('/') ? [program.value] : [];
    const isInterpreter = INTERPRETER.test(programName(program?.value ?? ''));
    const given = isInterpreter ? rest.flatMap(({ value }) => (isOperand(value) ? [value] : [])) : [];
    return [...named, ...given.slice(0, MOST_GIVEN), ...scriptFiles(part.inner?.parts ?? [])];
  });
}

/** `deno run x.ts`: the script is one of the first words; later words are its data. */
const MOST_GIVEN = 2;

const isOperand = (value: string | null): value is string => value !== null && /^[^-]/.test(value);
