import { RECALL_TOOL } from '../../chat/entry-list.js';
import { addUsage, type ChatEvent, type ChatEventOf, NO_USAGE } from '../../chat/event.js';
import {
  type AnswerPart,
  isPart,
  type Message,
  type NewMessage,
  type Part,
  type ToolCallPart,
  type ToolResultPart,
  type Usage,
} from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';
import { HiError, isAbort } from '../../errors.js';
import { RequestRefusal } from '../../providers/common/provider.js';
import type { GivenFile, ToolRunner } from '../../tools/common/tool.js';
import type { PartialAnswer } from './failed-request.js';
import type { Patience } from './patience.js';
import { type AskedModel, type KeepImage, OutdatedRequest, requestAnswer } from './request-answer.js';
import { cutCalls, cutResult, lengthCutNotice, Progress, stopBeforeRunning, type TurnOutcome } from './stop-turn.js';

/**
 * How often the conversation is searched again if something of it is removed each time, though nobody may forget
 * anything.
 */
const SEARCHES = 9;

/** The server that a turn asks. */
export interface AskedServer extends AskedModel {
  readonly model: string;
}

/** The log of a turn. */
export interface TurnLog {
  /** Whether everything in the last request is still there. */
  isCurrent(): Promise<boolean>;
  /**
   * Puts messages on disk, before the step that depends on them. With `onlyCurrent` it puts nothing there, and resolves
   * to no message, if something was removed since the last time.
   */
  append(messages: readonly NewMessage[], onlyCurrent?: boolean): Promise<readonly Message[]>;
  /** Runs `work` while no other process forgets anything. */
  undisturbed(work: () => Promise<void>): Promise<void>;
  /** The working folder to record with a message. */
  cwd(): string;
}

/** What a turn needs. */
export interface TurnDeps {
  readonly asked: AskedServer;
  readonly log: TurnLog;
  /** Stores the images that the model draws. */
  readonly keepImage: KeepImage;
  /** Stores the files that tools return. */
  keepFiles(files: readonly GivenFile[]): Promise<readonly Part[]>;
  /** Loaded when the model first calls one. */
  tools(): Promise<ToolRunner>;
  /** How many requests the turn may make. */
  readonly maxRounds: number;
  /** How long a turn waits for its server; no longer than usual if absent. */
  readonly patience?: Patience;
  /** The next request, from the current log; makes it fit first. `overflow`: the provider said the last one did not. */
  request(reason: 'auto' | 'overflow'): AsyncGenerator<ChatEvent, ChatRequest>;
  /**
   * Goes on with another server after a failure; `hasCalls` if the turn has called tools. Null if no other can. Absent
   * if there is none.
   */
  next?(failure: unknown, hasCalls: boolean): AsyncGenerator<ChatEvent, AskedServer | null>;
}

/** A turn that ended with an error, and its outcome so far. `kept` if part of the answer is in the history. */
export class TurnFailure extends Error {
  constructor(
    readonly reason: unknown,
    readonly kept: boolean,
  ) {
    super('The turn failed.', { cause: reason });
  }
}

/**
 * Asks, runs the tools the model calls, and asks again until it answers. Every message is appended before the next
 * step. An interruption closes the turn with the part received and returns; before the first word it leaves nothing. An
 * error closes it in the same way and throws a `TurnFailure`.
 */
export async function* runTurn(
  deps: TurnDeps,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, TurnOutcome & { readonly usage: Usage; readonly kept: boolean }> {
  const turn: RunningTurn = { deps, progress: new Progress(deps.asked.model), runner: null, end: 'interrupted' };
  let usage = NO_USAGE;
  try {
    for await (const event of askAndRun(turn, signal)) {
      if (event.type === 'image') turn.progress.takeImage(event);
      if (event.type === 'tool-start') turn.progress.takeStart(event);
      if (event.type === 'usage') usage = withRequest(usage, event);
      yield event;
    }
    return { ...turn.progress.outcome(turn.end), usage, kept: turn.progress.kept };
  } finally {
    await turn.runner?.endTurn();
  }
}

interface RunningTurn {
  deps: TurnDeps;
  readonly progress: Progress;
  runner: ToolRunner | null;
  /** Why it ended. */
  end: TurnOutcome['stop_reason'];
}

/** Adds the usage of one more request. A summary does not change how full the window is. */
function withRequest(usage: Usage, request: ChatEventOf<'usage'>): Usage {
  const sum = addUsage(usage, request.usage);
  return request.purpose === 'summary' ? { ...sum, context_tokens: usage.context_tokens } : sum;
}

async function* askAndRun(turn: RunningTurn, signal: AbortSignal): AsyncGenerator<ChatEvent, void> {
  const { progress } = turn;
  /** The provider's error about the last request, if it did not fit. */
  let overflow: HiError | null = null;
  const failures = { cuts: 0, unreadable: 0 };
  for (;;) {
    const { deps } = turn;
    const { asked, log } = deps;
    const answer: PartialAnswer = { parts: [], end: null, earlier: progress.sources };
    try {
      const request = yield* deps.request(overflow === null ? 'auto' : 'overflow');
      yield* requestAnswer(asked, request, answer, signal, { ...deps, isCurrent: log.isCurrent });
    } catch (thrown) {
      if (thrown instanceof OutdatedRequest) continue;
      const overflowed = thrown instanceof HiError && thrown.code === 'window' && answer.parts.length === 0;
      if (overflowed && overflow === null) {
        overflow = thrown;
        continue;
      }
      if (yield* goOn(turn, answer, thrown)) {
        overflow = null;
        continue;
      }
      const interrupted = isAbort(thrown);
      // Thinking alone is nothing that the user could read.
      const hasBegun = progress.kept || (interrupted ? answer.parts.some(isAnything) : answer.parts.length > 0);
      if (hasBegun) await close(deps, progress, answer, interrupted ? 'user' : 'error');
      if (interrupted) return;
      throw new TurnFailure(overflowed ? withSentence(thrown, overflow) : thrown, progress.kept);
    }
    overflow = null;
    const calls = answer.parts.filter(isPart('tool_call'));
    await log.append([assistantMessage(deps, answer)]);
    progress.take(answer);
    if (calls.length === 0) {
      turn.end = yield* ended(answer);
      return;
    }
    const cut = cutCalls(answer);
    const stopped = stopBeforeRunning(deps, answer, cut, failures, progress);
    if (stopped !== null) {
      turn.end = yield* stopped;
      return;
    }
    if (cut.length > 0) yield { type: 'notice', level: 'warning', text: lengthCutNotice(cut) };
    const results = yield* resultsOf(turn, answer, calls, cut, signal);
    progress.takeResults(calls, results);
    if (signal.aborted) {
      await close(deps, progress, { parts: [], end: null }, 'user');
      return;
    }
  }
}

/**
 * Runs the calls but those that were cut, and records the results of all. What was found in the log is searched again
 * if something was forgotten meanwhile.
 */
async function* resultsOf(
  turn: RunningTurn,
  answer: PartialAnswer,
  calls: readonly ToolCallPart[],
  cut: readonly ToolCallPart[],
  signal: AbortSignal,
): AsyncGenerator<ChatEvent, readonly ToolResultPart[]> {
  const { deps } = turn;
  const { log } = deps;
  turn.runner ??= await deps.tools();
  const { runner } = turn;
  const allowed = calls.filter((call) => !cut.includes(call));
  let ran = yield* runner.run(allowed, signal);
  const results = (): readonly ToolResultPart[] => [...ran, ...cut.map((call) => cutResult(call, answer))];
  const files = await deps.keepFiles(runner.takeFiles());
  const message = (): NewMessage => ({ role: 'tool', content: [...results(), ...files], cwd: log.cwd() });
  if ((await log.append([message()], true)).length === 0) {
    await log.undisturbed(async () => {
      for (let left = SEARCHES; left >= 0; left -= 1) {
        ran = await searchedAgain(runner, allowed, ran, signal);
        if ((await log.append([message()], left > 0)).length > 0) return;
      }
    });
  }
  return results();
}

/** Goes on with another server if nothing of the answer was shown. Returns whether there is one. */
async function* goOn(turn: RunningTurn, answer: PartialAnswer, thrown: unknown): AsyncGenerator<ChatEvent, boolean> {
  const { deps, progress } = turn;
  const next = answer.parts.length === 0 && deps.next ? yield* deps.next(thrown, progress.kept) : null;
  if (next === null) return false;
  turn.deps = { ...deps, asked: next };
  progress.model = next.model;
  return true;
}

/** The results after a part of the conversation was removed: what was found in it is searched again. */
async function searchedAgain(
  runner: ToolRunner,
  calls: readonly ToolCallPart[],
  results: readonly ToolResultPart[],
  signal: AbortSignal,
): Promise<readonly ToolResultPart[]> {
  const again = runner.run(
    calls.filter(({ name }) => name === RECALL_TOOL),
    signal,
  );
  let step = await again.next();
  while (!step.done) step = await again.next();
  const found = new Map(step.value.map((result) => [result.call_id, result]));
  return results.map((result) => found.get(result.call_id) ?? result);
}

/** The error with the server's first error, which names the window, appended. */
function withSentence(error: HiError, first: HiError | null): HiError {
  if (first === null || error.message.includes(first.message)) return error;
  // The request had too many bytes, so a sentence about tokens would mislead.
  if (first instanceof RequestRefusal) return first;
  const hint = error.hint === null ? {} : { hint: error.hint };
  return new HiError(error.code, `${error.message} ${first.message}`, { ...hint, cause: error });
}

function assistantMessage({ asked, log }: TurnDeps, answer: PartialAnswer): NewMessage {
  const calls = answer.parts.some((part) => part.type === 'tool_call');
  const { end } = answer;
  return {
    role: 'assistant',
    content: answer.parts,
    cwd: log.cwd(),
    provider: asked.provider.name,
    model: asked.model,
    ...(asked.api_base !== undefined && { api_base: asked.api_base }),
    ...(asked.server !== undefined && { server: asked.server }),
    // Last, because computing the origin loads Node's cryptography, which is slow.
    ...(answer.parts.some(isOpaque) && asked.provider.origin !== undefined && { origin: asked.provider.origin }),
    ...(end?.usage ? { usage: end.usage } : {}),
    stop_reason: calls ? 'tool_calls' : (end?.stop_reason ?? 'interrupted'),
    ...(answer.sources && { sources: answer.sources }),
  };
}

const isOpaque = (part: AnswerPart): boolean => part.opaque !== undefined;

/**
 * Ends the turn in the history with the part of the answer received. A tool call whose arguments may be incomplete
 * never ran and is left out, so that every call has a result. A turn without an answer is closed too, once it has
 * messages of its own.
 */
async function close(deps: TurnDeps, progress: Progress, answer: PartialAnswer, by: 'user' | 'error'): Promise<void> {
  const parts = answer.parts.filter((part) => part.type !== 'tool_call');
  const kept = { ...answer, parts, end: null };
  const stopped = { stop_reason: 'interrupted', ...(by === 'error' && { interrupted_by: by }) } as const;
  await deps.log.append([{ ...assistantMessage(deps, kept), ...stopped }]);
  progress.take(kept);
}

/** Whether a part shows the user anything. */
const isAnything = (part: AnswerPart): boolean =>
  part.type === 'image' || (part.type === 'text' && part.text.trim() !== '');

async function* ended(answer: PartialAnswer): AsyncGenerator<ChatEvent, TurnOutcome['stop_reason']> {
  const reason = answer.end?.stop_reason ?? 'end';
  const detail = answer.end?.detail ? `: ${answer.end.detail}` : '.';
  if (reason === 'length') {
    const text = answer.end?.detail ?? "The answer was cut off: it reached the model's output limit.";
    yield { type: 'notice', level: 'warning', text };
  }
  if (reason === 'refusal') yield { type: 'notice', level: 'warning', text: `The model declined to answer${detail}` };
  if (reason === 'end' && !answer.parts.some(isAnything)) {
    yield { type: 'notice', level: 'warning', text: 'The model sent an empty answer.' };
  }
  return reason === 'tool_calls' ? 'end' : reason;
}
