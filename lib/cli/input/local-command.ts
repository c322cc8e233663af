import { commandReport, failedCommandReport } from '../../chat/command-report.js';
import type { ChatEvent } from '../../chat/event.js';
import type { JsonValue } from '../../chat/json.js';
import { isJsonObject } from '../../chat/json.js';
import { HiError } from '../../errors.js';
import { bash } from '../../tools/bash.js';
import type { ToolContext, ToolRunner } from '../../tools/common/tool.js';
import { createToolRunner } from '../../tools/dispatch/dispatcher.js';
import type { OutputEnds } from './output-ends.js';

const A_DAY = 86_400_000;

/** The result of a command that the user ran. */
export interface LocalReport {
  /** For the model, with the secrets masked. */
  readonly text: string;
  /** How many characters of output are in it. */
  readonly printed: number;
}

/** Runs a command that the user typed, in the tools' working folder, without asking, and yields its output; with `ends`, only the ends of long output. */
export async function* runLocally(
  command: string,
  context: ToolContext,
  secrets: readonly string[],
  signal: AbortSignal,
  ends: OutputEnds | null,
): AsyncGenerator<ChatEvent, LocalReport> {
  const runner = localRunner(context, secrets);
  const events = runner.run(callOf(command), signal);
  for (;;) {
    const step = await events.next();
    if (step.done) {
      await runner.endTurn();
      const [outcome] = step.value;
      return reportOf(command, outcome?.error ?? null, outcome?.result ?? null);
    }
    if (step.value.type === 'tool-output') {
      const { text, lines } = step.value;
      yield { type: 'print', text: ends?.push(text, lines) ?? text, exact: true };
    }
    if (step.value.type === 'tool-end' && ends !== null) yield { type: 'print', text: ends.end(), exact: true };
    if (step.value.type === 'tool-end' && step.value.error !== undefined) {
      yield { type: 'notice', level: 'warning', text: step.value.error };
    }
    if (step.value.type === 'tool-end' && isJsonObject(step.value.result) && step.value.result.exit_code !== 0) {
      yield { type: 'notice', level: 'info', text: `exit status ${step.value.result.exit_code}` };
    }
  }
}

/**
 * The output of the user's command, run like `runLocally` after `before`. Throws a `HiError` of code `usage` with its output if it cannot be run or fails,
 * and an abort error if it is stopped.
 */
export async function localOutput(
  { command, before }: { readonly command: string; readonly before: string },
  context: ToolContext,
  secrets: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const runner = localRunner(context, secrets);
  const events = runner.run(callOf(`${before}\n${command}`), signal);
  let step = await events.next();
  while (!step.done) step = await events.next();
  await runner.endTurn();
  signal.throwIfAborted();
  const [outcome] = step.value;
  const { stdout = '', stderr = '', exit_code = 0 } = isJsonObject(outcome?.result) ? outcome.result : {};
  if (outcome?.error === undefined && exit_code === 0) return String(stdout);
  throw new HiError('usage', `The command '${command}' failed: ${outcome?.error ?? `exit status ${exit_code}`}.`, {
    hint: String(stderr).trim() || 'Nothing was sent.',
  });
}

function localRunner(context: ToolContext, secrets: readonly string[]): ToolRunner {
  return createToolRunner({
    tools: [bash],
    // It may take as long as it needs: the user sees it run and can stop it.
    context: { ...context, timeout: A_DAY, variables: 'all' },
    permissions: { allow: [], ask: [], deny: [] },
    approve: null,
    allowAll: true,
    storeRule: async () => undefined,
    secrets,
  });
}

const callOf = (command: string) =>
  [{ type: 'tool_call', call_id: 'local', name: bash.name, args: { command } }] as const;

function reportOf(command: string, error: string | null, result: JsonValue): LocalReport {
  if (error !== null) return { text: failedCommandReport(command, error), printed: 0 };
  const { stdout = '', stderr = '', exit_code = 0 } = isJsonObject(result) ? result : {};
  const printed = [stdout, stderr].filter((text) => text !== '').join('\n');
  return { text: commandReport(command, printed, Number(exit_code)), printed: printed.length };
}
