import { basename } from 'node:path';
import { isInert, isUnknownProgram, mayHideCommand, mayTellWhatRuns } from '../shell/hidden-commands.js';
import { programName } from '../shell/program-name.js';
import type { ShellPart } from '../shell/read-command.js';
import { type CommandRule, coversCommandLine, matchCommand } from './command-rules.js';

type CommandPart = Extract<ShellPart, { kind: 'command' }>;

/** A rule that a command line matches. `isCertain` is false if the text does not show whether it matches. */
export interface DenialMatch {
  readonly source: string;
  readonly isCertain: boolean;
}

/** The first rule that certainly matches this command line or a part of it; else the first that may. */
export function matchingRule(
  rules: readonly CommandRule[],
  command: string,
  all: readonly ShellPart[],
): DenialMatch | null {
  let possible: string | null = null;
  for (const rule of rules) {
    const { source } = rule.rule;
    if (coversCommandLine(rule, command)) return { source, isCertain: true };
    for (const part of all) {
      const match = part.kind === 'command' ? matchCommand(rule, part) : 'no';
      if (match === 'yes') return { source, isCertain: true };
      if (match === 'maybe' || (part.kind === 'command' && mentions(rule, part))) possible ??= source;
    }
  }
  return possible === null ? null : { source: possible, isCertain: false };
}

/** Whether a part may run commands that the text does not show. */
export function mayHide(part: ShellPart): boolean {
  if (part.kind !== 'command') return part.kind === 'unclear' && part.mayHideCommands;
  if (part.uncertainty?.mayHideCommands === true || part.assignments.some(mayTellWhatRuns)) return true;
  return part.inner === null && (mayHideCommand(part.words) || mayRunItsInput(part));
}

/** Its input as the value of an option or an operand: `-f -`, `-f-`, `--file=/dev/stdin`. */
const NAMES_INPUT = /^(?:-\w|--[\w-]+=)?(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/self\/fd\/\d+)$/;

/** Whether a program that may run anything is given its input by the line (a here-document) or told to read it. */
const mayRunItsInput = ({ words, text }: CommandPart): boolean =>
  isUnknownProgram(words) && (text.includes('<<') || words.slice(1).some(({ value }) => NAMES_INPUT.test(value ?? '')));

/** Whether a program that may run anything has the words of the rule among its arguments, in one or in several: `setpriv rm x`, `sg root 'rm x'`. */
function mentions({ words: wanted }: CommandRule, { words, inner, text }: CommandPart): boolean {
  const [program, ...others] = wanted ?? [];
  if (program === undefined || inner !== null) return false;
  // A copy of the program, or a link to it, has another name.
  if (words.slice(1).some(({ value }) => isPathOf(program, value))) return true;
  if (isInert(words) || !isUnknownProgram(words)) return false;
  const given = [...words.slice(1).map(({ value }) => value ?? ''), text.slice(words[0]?.text.length ?? 0)].join(' ');
  // A shell that the program starts reads `r\m` and `r"m"` as `rm`.
  return [given, given.replace(/["'\\]/g, '')].some((text) => hasWords([basename(program), ...others], text));
}

function hasWords(wanted: readonly string[], text: string): boolean {
  let rest: string | null = text;
  for (const word of wanted) rest = rest === null ? null : after(word, rest);
  return rest !== null;
}

const isPathOf = (program: string, value: string | null): boolean =>
  value?.startsWith('/') === true && programName(value) === programName(program);

/** The text after a whole word; null if the word does not occur. */
function after(word: string, text: string): string | null {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const around = `${text[at - 1] ?? ''}${text[at + word.length] ?? ''}`;
    if (!/[\w-]/.test(around)) return text.slice(at + word.length);
  }
  return null;
}
