import { stat } from 'node:fs/promises';
import { HiError, systemCode } from '../errors.js';
import { commandEnvironment } from '../permission/environment.js';
import { isInside, realPath } from '../permission/paths/resolve-path.js';
import type { ConfinedRun, Leftovers } from '../permission/sandbox/sandbox.js';
import type { SecretStream } from '../permission/secrets.js';
import { BY_MODEL, endProcesses } from '../processes.js';
import type { Tool, ToolContext } from './common/tool.js';
import { OutputKeeper, spillFolderOf } from './shell/limit-output.js';
import { runShell, type ShellEnd } from './shell/run-shell.js';
import { outputName } from './shell/spill.js';

/** Runs a command in bash, or in sh if there is no bash. Only the working folder is kept between calls. */
export const bash: Tool<{ readonly command: string }> = {
  name: 'bash',
  accessKind: 'execute',
  rulesCoverKind: true,
  effect: { kind: 'command' },
  description:
    'Runs a command in bash. The working folder is kept between calls, variables are not. There is no terminal and no input: use options that do not prompt. Background processes end with the turn.',
  descriptionInSh:
    'Runs a command in sh, because bash is not installed: use POSIX syntax only, no arrays, [[ ]] or <( ). The working folder is kept between calls, variables are not. There is no terminal and no input: use options that do not prompt. Background processes end with the turn.',
  parameters: {
    type: 'object',
    properties: { command: { type: 'string', minLength: 1, description: 'The command.' } },
    required: ['command'],
    additionalProperties: false,
  },
  access: ({ command }) => ({ kind: 'execute', command }),
  async run({ command }, context, emit, signal, permit) {
    const confined = permit.confined;
    if (command.includes('\0')) throw new HiError('usage', 'A command cannot contain a NUL character.');
    await requireFolder(context);
    const name = outputName();
    const spill = spillFolderOf(context);
    const stdout = new OutputKeeper(context.outputLimit, spill, `${name}.stdout`, maskOf(context));
    const stderr = new OutputKeeper(context.outputLimit, spill, `${name}.stderr`, maskOf(context));
    const end = await runShell(
      command,
      {
        shell: context.shell ?? 'bash',
        folder: context.cwd.now,
        env: {
          ...commandEnvironment(context.env, [], context.variables),
          ...(context.variables !== 'all' && { [BY_MODEL]: '1' }),
          ...confined?.env,
        },
        timeout: context.timeout,
        wrapper: confined?.wrapper ?? [],
        filter: confined?.filter ?? null,
        stdout: (chunk) => emit(stdout.take(chunk)),
        stderr: (chunk) => emit(stderr.take(chunk)),
      },
      signal,
    )
      .catch(explain)
      .catch(async (failure) => {
        await confined?.finish();
        throw failure;
      });
    const left: Leftovers = (await confined?.finish()) ?? { renamed: [], isComplete: true };
    await keepUntilTurnEnd(end, context, confined);
    for (const stream of [stdout, stderr]) emit(stream.rest());
    const leftovers = aboutLeftovers(left);
    // The user must know too, whatever the model does with it.
    for (const text of leftovers) context.runner?.warn(text);
    const [room, errorRoom] = splitLimit(context.outputLimit, stdout.characters, stderr.characters);
    const output = stdout.finish(room);
    const errors = stderr.finish(errorRoom);
    const moved = await followFolder(end.folder, context, confined !== null);
    return {
      stdout: output.text,
      stderr: errors.text,
      exit_code: end.exitCode,
      ...(output.truncated || errors.truncated ? { truncated: true } : {}),
      ...(end.timedOut ? { timed_out: true, note: `Timed out after ${context.timeout / 1000} s.` } : {}),
      ...(end.signal !== null && !end.timedOut ? { signal: end.signal } : {}),
      ...(moved ? { working_folder: context.cwd.now } : {}),
      ...(leftovers.length > 0
        ? { note: [...leftovers, ...(left.renamed.length > 0 ? [APPROVABLE] : [])].join(' ') }
        : {}),
    };
  },
};

const maskOf = ({ runner }: ToolContext): SecretStream | null => runner?.maskStream() ?? null;

async function requireFolder(context: ToolContext): Promise<void> {
  const missing = context.cwd.now;
  const found = await stat(missing).catch(() => null);
  if (found?.isDirectory()) return;
  context.cwd.now = context.cwd.start;
  throw new HiError(
    'usage',
    `The working folder '${missing}' no longer exists. The next command starts in '${context.cwd.start}'.`,
  );
}

/**
 * Changes to the command's last folder. A sandboxed command may report any folder, so only one in the working folder
 * counts, where it could have gone without approval.
 */
async function followFolder(folder: string | null, context: ToolContext, isConfined: boolean): Promise<boolean> {
  if (folder === null || folder === context.cwd.now) return false;
  if (isConfined && !isInside(realPath(context.cwd.start), realPath(folder))) return false;
  if (!(await stat(folder).catch(() => null))?.isDirectory()) return false;
  context.cwd.now = folder;
  return true;
}

function explain(failure: unknown): never {
  if (systemCode(failure) === 'ENOENT')
    throw new HiError('usage', 'Neither bash nor sh is installed on this system.', { cause: failure });
  if (systemCode(failure) === 'E2BIG')
    throw new HiError('usage', 'The command is too long. Write it to a file with write_file, and run that.', {
      cause: failure,
    });
  throw failure;
}

const TOO_MUCH_LEFT =
  'The command left more files than hi checks. Other programs may run some of them (.git, .envrc, .vscode).';

const APPROVABLE = 'The user can approve such a command.';

/** Warnings about files that a command left for other programs to run. */
function aboutLeftovers({ renamed, isComplete }: Leftovers): readonly string[] {
  const names = `Other programs would run what the command left here, or a rule forbids it, so it was renamed: ${renamed.join(', ')}.`;
  return [...(renamed.length > 0 ? [names] : []), ...(isComplete ? [] : [TOO_MUCH_LEFT])];
}

/** Background processes may run until the turn ends. */
async function keepUntilTurnEnd(
  { background }: ShellEnd,
  { runner }: ToolContext,
  confined: ConfinedRun | null,
): Promise<void> {
  if (background === null) return;
  const end = async (): Promise<void> => {
    await endProcesses(background, 300);
    await confined?.finish();
  };
  if (runner) runner.atTurnEnd(end);
  else await end();
}

// A short stream leaves its share to the other one; two long ones get two thirds and one third.
function splitLimit(limit: number, output: number, errors: number): readonly [number, number] {
  const errorRoom = Math.min(errors, Math.max(Math.floor(limit / 3), limit - output));
  return [limit - errorRoom, errorRoom];
}
