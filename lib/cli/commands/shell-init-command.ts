import { EXIT_STATUS, HiError } from '../../errors.js';
import { pick } from '../../registry.js';
import { textModel } from '../../session/turn/metered-model.js';
import { readSettings, requireConfig } from '../base/settings.js';
import type { World } from '../base/world.js';
import { SHELLS, type Shell } from '../completion/completion-scripts.js';
import { KEY_BINDINGS } from '../shell/shell-bindings.js';
import { SHELL_TASKS, type ShellTask } from '../shell/shell-tasks.js';
import { Connections } from '../wiring/connections.js';

/**
 * Prints a shell's key bindings. With a task and a line, as the bindings call it, prints the model's answer for the line: the conversation is neither read nor
 * written, and the model has no tools. Resolves to the exit status. Throws `HiError`s.
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
    const { text, stop_reason } = await textModel(target).write(task.prompt(line, shell), () => undefined, stop.signal);
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
