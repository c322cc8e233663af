import type { TextPrompt } from '../../chat/text-model.js';
import { neutralise } from '../../screen/text/sanitize.js';

/** What a key asks of the model about a command line. */
export interface ShellTask {
  readonly name: string;
  prompt(line: string, shell: string): TextPrompt;
  /** What goes to stdout of the model's text; empty when there is nothing of use in it. */
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

/** A fence of three or more backquotes or tildes, its language, and what is inside. */
const FENCED = /^[ \t]*(`{3,}|~{3,})[^\n`]*\n([\s\S]*?)\n?[ \t]*\1[ \t]*$/m;

/** The command in an answer: models put it in a fence, in backquotes or behind a prompt sign although they are asked not to. */
export function commandOf(text: string): string {
  const fenced = FENCED.exec(text)?.[2] ?? text;
  const lines = fenced.trim().split('\n');
  const command = lines.map((line) => line.replace(/^[$%] /, '')).join('\n');
  const quoted = /^`([^`\n]+)`$/.exec(command);
  return neutralise(quoted?.[1] ?? command).trim();
}
