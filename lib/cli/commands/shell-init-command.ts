import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TextPrompt } from '../../chat/request.js';
import { EXIT_STATUS, HiError } from '../../errors.js';
import { pick } from '../../registry.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { textWidth } from '../../screen/text/styled-text.js';
import { textModel } from '../../session/turn/text-model.js';
import { readSettings, requireConfig } from '../base/settings.js';
import { openTerminal, type World } from '../base/world.js';
import { Connections } from '../wiring/connections.js';
import { SHELLS, type Shell } from './completion-scripts.js';

/**
 * Prints a shell's key bindings. With a task and a line, as the bindings call it, prints the model's answer for the
 * line: the conversation is neither read nor written, and the model has no tools. Resolves to the exit status. Throws
 * `HiError`s.
 */
export async function shellInitCommand(
  world: World,
  shell: string,
  task: string | undefined,
  words: readonly string[],
): Promise<number> {
  const { name } = pick(SHELLS, shell, 'shell', 'usage');
  if (task === undefined) {
    world.stdout.write(KEY_BINDINGS[name]);
    return 0;
  }
  const line = words.join(' ').trim();
  if (line === '')
    throw new HiError('usage', 'No command line given.', { hint: `Run: hi shell-init ${name} ${task} -- "…"` });
  return await perform(world, pick(SHELL_TASKS, task, 'task', 'usage'), line, name);
}

async function perform(world: World, task: ShellTask, line: string, shell: Shell): Promise<number> {
  const stop = new AbortController();
  const release = world.onStop(() => stop.abort());
  try {
    const settings = await readSettings(world, {});
    const config = requireConfig(settings);
    const target = new Connections(world, {}, settings, config).target(config);
    const giveBack = holdTerminal(`${target.model}: ${line}`, () => stop.abort());
    const asked = textModel(target).write(task.prompt(line, shell), () => undefined, stop.signal);
    const { text, stop_reason } = await asked.finally(giveBack);
    // Part of a command may do something different from the whole.
    if (stop_reason === 'length' || stop_reason === 'refusal') throw unfinished(target.model, stop_reason);
    const output = task.output(text);
    if (output === '')
      throw new HiError('malformed', `${target.model} answered without a command.`, { hint: 'Rephrase it.' });
    world.stdout.write(`${output}\n`);
    return stop.signal.aborted ? EXIT_STATUS.interrupted : 0;
  } finally {
    release();
  }
}

function unfinished(model: string, reason: 'length' | 'refusal'): HiError {
  return reason === 'length'
    ? new HiError('malformed', `The answer of ${model} was cut off.`, { hint: 'Ask for less, or use another model.' })
    : new HiError('refused', `${model} declined to answer.`, { hint: 'Rephrase it.' });
}

/**
 * What binds the two keys in each shell: Alt-H turns what stands on the command line into a command, Alt-E explains it.
 * The text is handed over as an argument, never evaluated; what fails is shown, and the line stays as it was.
 */
const KEY_BINDINGS: Readonly<Record<Shell, string>> = {
  bash: `# Key bindings of hi for bash: put  eval "$(hi shell-init bash)"  into ~/.bashrc
# Alt-H turns what is on the command line into a command. Alt-E explains it. Neither runs anything.
# Ctrl-C stops hi, which listens to it by itself, and not bash, which would drop the line.
_hi_to_command() {
  local command interrupt
  [[ $READLINE_LINE == *[![:space:]]* ]] || return 0
  interrupt=$(trap -p INT)
  trap '' INT
  if command=$(hi shell-init bash command -- "$READLINE_LINE"); then
    READLINE_LINE=$command
    READLINE_POINT=\${#READLINE_LINE}
  fi
  eval "\${interrupt:-trap - INT}"
}
_hi_explain() {
  local interrupt
  [[ $READLINE_LINE == *[![:space:]]* ]] || return 0
  interrupt=$(trap -p INT)
  trap '' INT
  printf '%s\\n' "\${PS1@P}$READLINE_LINE"
  hi shell-init bash explain -- "$READLINE_LINE"
  eval "\${interrupt:-trap - INT}"
}
if [[ $- == *i* ]] && ((BASH_VERSINFO[0] > 4 || (BASH_VERSINFO[0] == 4 && BASH_VERSINFO[1] > 3))); then
  for _hi_keys in emacs vi-insert; do
    bind -m $_hi_keys -x '"\\eh": _hi_to_command'
    bind -m $_hi_keys -x '"\\ee": _hi_explain'
  done
  unset _hi_keys
fi
`,
  zsh: `# Key bindings of hi for zsh: put  eval "$(hi shell-init zsh)"  into ~/.zshrc
# Alt-H turns what is on the command line into a command. Alt-E explains it. Neither runs anything.
_hi_to_command() {
  emulate -L zsh
  local command
  # Ctrl-C stops hi, which listens to it by itself, and not zsh, which would drop the line.
  trap '' INT
  [[ $BUFFER == *[^[:space:]]* ]] || return 0
  zle -I
  if command=$(hi shell-init zsh command -- "$BUFFER"); then
    BUFFER=$command
    CURSOR=\${#BUFFER}
  fi
}
_hi_explain() {
  emulate -L zsh
  trap '' INT
  [[ $BUFFER == *[^[:space:]]* ]] || return 0
  zle -I
  hi shell-init zsh explain -- "$BUFFER"
  return 0
}
zle -N _hi_to_command
zle -N _hi_explain
for _hi_keys in emacs viins; do
  bindkey -M $_hi_keys '\\eh' _hi_to_command
  bindkey -M $_hi_keys '\\ee' _hi_explain
done
unset _hi_keys
`,
  fish: `# Key bindings of hi for fish: put  hi shell-init fish | source  into ~/.config/fish/config.fish
# Alt-H turns what is on the command line into a command. Alt-E explains it. Neither runs anything.
function __hi_to_command
  set -l line (commandline | string collect)
  string match -qr '\\S' -- $line; or return 0
  echo
  set -l command (hi shell-init fish command -- $line | string collect)
  if test $pipestatus[1] -eq 0
    commandline -r -- $command
    commandline -f end-of-buffer
  end
  commandline -f repaint
end
function __hi_explain
  set -l line (commandline | string collect)
  string match -qr '\\S' -- $line; or return 0
  echo
  hi shell-init fish explain -- $line
  commandline -f repaint
end
for __hi_keys in default insert
  bind -M $__hi_keys \\eh __hi_to_command
  bind -M $__hi_keys \\ee __hi_explain
end
set -e __hi_keys
`,
};

/** What a key binding asks the model about a command line. */
interface ShellTask {
  readonly name: string;
  prompt(line: string, shell: string): TextPrompt;
  /** The part of the model's text to print on stdout; empty if nothing in it is usable. */
  output(text: string): string;
}

const SHELL_TASKS: readonly ShellTask[] = [
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

/**
 * The command in an answer: models put it in a fence, in backquotes or behind a prompt sign although they are asked not
 * to.
 */
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

/**
 * The fence of the first line of a block of code: three or more backquotes or tildes, before a language. No line is a
 * newline.
 */
function fenceOf(line: string): string {
  const fence = /^(?:`{3,}|~{3,})/.exec(line)?.[0];
  return fence === undefined || line.includes('`', fence.length) ? '\n' : fence;
}

/** How long to wait at the end for what was typed before it, in milliseconds. */
const LAST_KEYS = 20;
const CTRL_C = 3;

/**
 * Takes the keys of the user's terminal, which another program reads as well, and shows `text` in a row of its own.
 * What is typed meanwhile is dropped, and Ctrl-C calls `interrupt`. Returns what gives the keys back and removes the
 * row. Does nothing without a terminal.
 */
function holdTerminal(text: string, interrupt: () => void): () => Promise<void> {
  const opened = openTerminal();
  if (opened === null) return async () => undefined;
  const { fd, keys } = opened;
  keys.setRawMode(true);
  keys.on('data', (bytes: Buffer) => {
    if (bytes.includes(CTRL_C)) interrupt();
  });
  keys.on('error', () => undefined);
  const shown = neutralise(text.replaceAll(/\s+/g, ' '));
  const { columns = 80 } = process.stderr;
  const row = textWidth(shown) < columns ? shown : `${shown.slice(0, columns / 2)}…`;
  writeSync(fd, `\r\x1b[K${row}`);
  return async () => {
    await sleep(LAST_KEYS);
    writeSync(fd, '\r\x1b[K');
    keys.setRawMode(false);
    keys.destroy();
  };
}
