import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ChatEvent } from '../../chat/event.js';
import { isJsonObject, type JsonValue } from '../../chat/json.js';
import { commandReport, failedCommandReport } from '../../chat/message.js';
import { firstCharacters, newlinesIn, quantity } from '../../chat/text.js';
import { HiError } from '../../errors.js';
import { shellCommand } from '../../processes.js';
import { bash } from '../../tools/bash.js';
import type { ToolContext, ToolRunner } from '../../tools/common/tool.js';
import { createToolRunner } from '../../tools/dispatch/dispatcher.js';
import type { World } from '../base/world.js';

const A_DAY = 86_400_000;

/** The result of a command that the user ran. */
interface LocalReport {
  /** For the model, with the secrets masked. */
  readonly text: string;
  /** How many characters of output are in it. */
  readonly printed: number;
}

/** What a program writes to have the whole screen: the switch to the other one, or a row and column for the cursor. */
const FULL_SCREEN = /\x1b\[(?:\?(?:47|1047|1049)h|\d+;\d+H)/;

/**
 * Runs a command that the user typed, in the tools' working folder, without asking, and yields its output; with `ends`,
 * only the ends of long output. A program that wants the whole screen is stopped, and the report is null.
 */
export async function* runLocally(
  command: string,
  context: ToolContext,
  secrets: readonly string[],
  signal: AbortSignal,
  ends: OutputEnds | null,
): AsyncGenerator<ChatEvent, LocalReport | null> {
  const runner = localRunner(context, secrets);
  const stop = new AbortController();
  const events = runner.run(callOf(command), AbortSignal.any([signal, stop.signal]));
  for (;;) {
    const step = await events.next();
    if (stop.signal.aborted && !step.done) continue;
    if (step.done) {
      await runner.endTurn();
      if (stop.signal.aborted) return null;
      const [outcome] = step.value;
      return reportOf(command, outcome?.error ?? null, outcome?.result ?? null);
    }
    if (step.value.type === 'tool-output') {
      const { text, lines } = step.value;
      if (ends !== null && FULL_SCREEN.test(text)) {
        stop.abort();
        continue;
      }
      yield { type: 'print', text: ends?.push(text, lines) ?? text, exact: true };
    }
    if (step.value.type === 'tool-end' && ends !== null) yield { type: 'print', text: ends.end(), exact: true };
    if (step.value.type === 'tool-end' && step.value.error !== undefined) {
      yield { type: 'notice', level: 'warning', text: step.value.error };
    }
    if (step.value.type === 'tool-end' && isJsonObject(step.value.result)) {
      const { exit_code, working_folder: folder } = step.value.result;
      if (exit_code !== 0) yield { type: 'notice', level: 'info', text: `exit status ${exit_code}` };
      if (folder !== undefined) yield { type: 'notice', level: 'info', text: `The working folder is ${folder} now.` };
    }
  }
}

/**
 * The output of the user's command, run like `runLocally` after `before`. Throws a `HiError` of code `usage` with its
 * output if it cannot be run or fails, and an abort error if it is stopped.
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

/** How much of an output is shown: the first and last lines, up to a number of characters. */
const HEAD_LINES = 20;
const TAIL_LINES = 10;
const MAX_CHARACTERS = 2000;

/** Passes the start of an output through as it arrives, and keeps its end. What is between them is only counted. */
export class OutputEnds {
  #headLines = 0;
  #headCharacters = 0;
  #isAtLineStart = true;
  /** The part after the head that may still be shown. */
  #tail = '';
  #droppedLines = 0;
  #dropped = 0;

  /**
   * Returns what of the next piece is shown now. So many lines end in it, also where the text does not have them all.
   */
  push(text: string, lines: number): string {
    this.#droppedLines += lines - newlinesIn(text);
    const end = this.#tail === '' ? this.#headOf(text) : 0;
    this.#keep(text.slice(end));
    return text.slice(0, end);
  }

  /** Returns the end of the output, after a line that says how much is left out. */
  end(): string {
    if (this.#dropped === 0) return this.#tail;
    const what =
      this.#droppedLines > 0 ? quantity(this.#droppedLines, 'more line') : quantity(this.#dropped, 'more character');
    return `${this.#isAtLineStart ? '' : '\n'}… ${what}\n${this.#tail}`;
  }

  /** Where the head ends in this piece. */
  #headOf(text: string): number {
    let end = 0;
    for (let lines = this.#headLines; lines < HEAD_LINES && end < text.length; lines += 1) {
      const newline = text.indexOf('\n', end);
      end = newline === -1 ? text.length : newline + 1;
    }
    const head = firstCharacters(text.slice(0, end), MAX_CHARACTERS - this.#headCharacters);
    this.#headLines += newlinesIn(head);
    this.#headCharacters = head.length < end ? MAX_CHARACTERS : this.#headCharacters + head.length;
    if (head !== '') this.#isAtLineStart = head.endsWith('\n');
    return head.length;
  }

  #keep(text: string): void {
    const tail = this.#tail + text;
    const start = startOfTail(tail);
    const dropped = tail.slice(0, start);
    this.#tail = tail.slice(start);
    this.#dropped += dropped.length;
    this.#droppedLines += newlinesIn(dropped);
  }
}

/** Where the last lines begin; in one that is too long, where its last characters do. */
function startOfTail(text: string): number {
  let start = text.length;
  for (let line = 0; line <= TAIL_LINES && start > 0; line += 1) start = text.lastIndexOf('\n', start - 1);
  const byLines = start <= 0 ? 0 : start + 1;
  return Math.max(byLines, text.length - MAX_CHARACTERS);
}

/**
 * Runs a command with the user's shell, connected to the terminal where there is one. Its output is not read, and it
 * cannot read a script on stdin. Resolves to how it ended; null where it succeeded.
 */
export async function runInForeground(command: string, world: World, cwd: string): Promise<string | null> {
  const system = { platform: process.platform, env: world.env };
  const { file, args, options } = shellCommand(command, [], system, world.env.SHELL || '/bin/sh');
  const child = spawn(file, args, {
    ...options,
    stdio: [world.stdinIs === 'terminal' ? 'inherit' : 'ignore', 'inherit', 'inherit'],
    cwd,
    env: { ...world.env },
  });
  const [status, signal] = await once(child, 'close');
  if (status === 0) return null;
  return status === null ? `ended by ${signal}` : `exit status ${status}`;
}
