import type { TextPrompt } from '../../chat/text-model.js';
import { neutralise } from '../../screen/text/neutralise.js';

/** What a key binding asks the model about a command line. */
export interface ShellTask {
  readonly name: string;
  prompt(line: string, shell: string): TextPrompt;
  /** The part of the model's text to print on stdout; empty if nothing in it is usable. */
  output(text: string): string;
}

export const SHELL_TASKS: readonly ShellTask[] = [
  {
    name: 'command',
    prompt: (line, shell) => ({
      system:
        `You write command lines for ${shell} on ${process.platform}. The user's text is a wish in words, or a command that is unfinished or wrong. ` +
        `Answer with the one command line that does what is meant, ready for ${shell}, and nothing else: no explanation, no Markdown, no prompt sign. ` +
        'Prefer one line, and what is installed everywhere. Change nothing that the user did not ask to change.',
      user: line,
      max_output_tokens: 2000,
    }),
    output: commandOf,
  },
  {
    name: 'explain',
    prompt: (line, shell) => ({
      system:
        `You explain command lines of ${shell} on ${process.platform}. Say in plain text, in at most ten short lines, what the user's command does, part by part, ` +
        'and begin with a warning when it deletes, overwrites or sends anything. Answer in the language of the user where one can be told, else in English. No Markdown.',
      user: line,
      max_output_tokens: 4000,
    }),
    output: (text) => neutralise(text.trim()),
  },
];

/** The command in an answer: models put it in a fence, in backquotes or behind a prompt sign although they are asked not to. */
export function commandOf(text: string): string {
  const lines = (fencedIn(text) ?? text).trim().split('\n');
  const command = lines.map((line) => line.replace(/^[$%] /, '')).join('\n');
  const quoted = /^`([^`\n]+)`$/.exec(command);
  return neutralise(quoted?.[1] ?? command).trim();
}

/** What is in the first block of code that ends; null when there is none. */
function fencedIn(text: string): string | null {
  const lines = text.split('\n');
  const trimmed = lines.map((line) => line.trim());
  const lastOf = new Map(trimmed.map((line, index) => [line, index]));
  const begin = trimmed.findIndex((line, index) => (lastOf.get(fenceOf(line)) ?? -1) > index);
  return begin === -1
    ? null
    : lines.slice(begin + 1, trimmed.indexOf(fenceOf(trimmed[begin] ?? ''), begin + 1)).join('\n');
}

/** The fence of the first line of a block of code: three or more backquotes or tildes, before a language. No line is a newline. */
function fenceOf(line: string): string {
  const fence = /^(?:`{3,}|~{3,})/.exec(line)?.[0];
  return fence === undefined || line.includes('`', fence.length) ? '\n' : fence;
}
