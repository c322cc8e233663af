import type { ChatEvent, ChatEventOf, ImageFile, ToolCallReport, TurnReport } from '../../chat/event.js';
import {
  isPart,
  type Message,
  type NewMessage,
  type ToolCallPart,
  type ToolResultPart,
  textOf,
} from '../../chat/message.js';
import { joinSources, type Source } from '../../chat/web-source.js';
import type { Provider } from '../../providers/common/provider.js';
import type { PartialAnswer } from './failed-request.js';

/** The outcome of a turn, without what only the session knows. */
export type TurnOutcome = Pick<TurnReport, 'text' | 'stop_reason' | 'tool_calls' | 'model' | 'sources' | 'images'>;

/** The outcome of a turn so far: the newest text of an answer, its calls, its sources. */
export class Progress {
  rounds = 0;
  /** The model that answers now. */
  model: string;
  #text = '';
  #sources: readonly Source[] = [];
  readonly #calls: ToolCallReport[] = [];
  /** The calls that ran, which may be others than the model wrote: a tool may call another. */
  readonly #ran = new Map<string, Pick<ToolCallReport, 'name' | 'args'>>();
  readonly #images: ImageFile[] = [];

  constructor(model: string) {
    this.model = model;
  }

  /** Whether any part of an answer is in the history. */
  get kept(): boolean {
    return this.rounds > 0;
  }

  get sources(): readonly Source[] {
    return this.#sources;
  }

  take(answer: PartialAnswer): void {
    this.rounds += 1;
    this.#text = textOf(answer.parts) || this.#text;
    this.#sources = joinSources(this.#sources, answer.sources ?? []);
  }

  takeImage({ path, mime, bytes }: ImageFile): void {
    this.#images.push({ path, mime, bytes });
  }

  takeStart({ call_id, name, args }: ChatEventOf<'tool-start'>): void {
    this.#ran.set(call_id, { name, args });
  }

  takeResults(calls: readonly ToolCallPart[], results: readonly ToolResultPart[]): void {
    for (const { call_id, name, args } of calls) {
      const result = results.find((one) => one.call_id === call_id);
      if (result === undefined) continue;
      this.#calls.push({
        ...(this.#ran.get(call_id) ?? { name, args }),
        ...(result.error === undefined ? { result: result.result } : { error: result.error }),
      });
    }
  }

  outcome(stop_reason: TurnOutcome['stop_reason']): TurnOutcome {
    return {
      text: this.#text,
      model: this.model,
      stop_reason,
      tool_calls: this.#calls,
      sources: this.#sources,
      images: this.#images,
    };
  }
}

/** The dependencies needed to end a turn; see `TurnDeps`. */
interface StopDeps {
  readonly asked: { readonly provider: Pick<Provider, 'name'>; readonly model: string };
  readonly log: { append(messages: readonly NewMessage[]): Promise<readonly Message[]>; cwd(): string };
  readonly maxRounds: number;
}

/** Ends the turn if the calls of an answer cannot be run, or no round is left for them; null if they should be run. */
export function stopBeforeRunning(
  deps: StopDeps,
  answer: PartialAnswer,
  cut: readonly ToolCallPart[],
  failures: { cuts: number; unreadable: number },
  progress: Progress,
) {
  const calls = answer.parts.filter(isPart('tool_call'));
  const isLast = progress.rounds >= deps.maxRounds;
  failures.cuts += cut.length > 0 ? 1 : 0;
  failures.unreadable = calls.every(isUnreadable) ? failures.unreadable + 1 : 0;
  if (cut.length > 0 && (failures.cuts === MOST_CUTS || isLast)) return stopAfterCut(deps, answer, cut, progress);
  if (failures.unreadable === MOST_UNREADABLE) return stopUnreadable(deps, calls, progress);
  return isLast ? stopAtLimit(deps, calls, progress) : null;
}

function stopAtLimit(deps: StopDeps, calls: readonly ToolCallPart[], progress: Progress) {
  const error = `Not run: this turn has used all of its ${deps.maxRounds} rounds. Say what is done and what is left.`;
  const text = `Stopped after ${deps.maxRounds} rounds of tool calls (tools.max_rounds). Say "go on" to continue.`;
  return stop(deps, calls, calls.map(notRun(error)), { stop_reason: 'tool_limit', text }, progress);
}

/**
 * How many answers in a row may consist of calls whose arguments are not JSON: some servers cut off a call without
 * saying so.
 */
const MOST_UNREADABLE = 3;

const isUnreadable = ({ invalid_args }: ToolCallPart): boolean => invalid_args !== undefined;

function stopUnreadable(deps: StopDeps, calls: readonly ToolCallPart[], progress: Progress) {
  const names = [...new Set(calls.map(({ name }) => name || 'a tool'))].join(', ');
  const error = `Not run: the arguments were not a JSON object, ${MOST_UNREADABLE} times in a row.`;
  const text = `Stopped: the model called ${names} ${MOST_UNREADABLE} times in a row with arguments that are not a JSON object. Ask for the work in smaller steps, or use another model.`;
  return stop(deps, calls, calls.map(notRun(error)), { stop_reason: 'tool_limit', text }, progress);
}

function stopAfterCut(deps: StopDeps, answer: PartialAnswer, cut: readonly ToolCallPart[], progress: Progress) {
  const calls = answer.parts.filter(isPart('tool_call'));
  const whole = calls.filter((call) => !cut.includes(call));
  const results = [
    ...whole.map(notRun('Not run: the turn ended because the next call was incomplete.')),
    ...cut.map((call) => cutResult(call, answer)),
  ];
  return stop(deps, calls, results, { stop_reason: 'length', text: cutStop(cut) }, progress);
}

const notRun =
  (error: string) =>
  ({ call_id, name }: ToolCallPart): ToolResultPart => ({ type: 'tool_result', call_id, name, error });

/** Ends the turn after an answer whose calls are not run, and says why. */
async function* stop(
  { asked, log }: StopDeps,
  calls: readonly ToolCallPart[],
  results: readonly ToolResultPart[],
  { stop_reason, text }: { readonly stop_reason: 'length' | 'tool_limit'; readonly text: string },
  progress: Progress,
): AsyncGenerator<ChatEvent, TurnOutcome['stop_reason']> {
  const closing: NewMessage = {
    role: 'assistant',
    content: [],
    cwd: log.cwd(),
    provider: asked.provider.name,
    model: asked.model,
    stop_reason,
  };
  await log.append([{ role: 'tool', content: results, cwd: log.cwd() }, closing]);
  progress.takeResults(calls, results);
  yield { type: 'notice', level: 'warning', text };
  return stop_reason;
}

/**
 * How often in one turn the length limit may cut off a tool call. A model that ignores the first hint would repeat the
 * mistake for ever.
 */
export const MOST_CUTS = 2;

/** The tool calls of an answer that the model's output limit left incomplete. They must not be run. */
export function cutCalls({ parts, end }: PartialAnswer): readonly ToolCallPart[] {
  if (end?.stop_reason !== 'length') return [];
  return parts.filter(isPart('tool_call')).filter((call) => call.invalid_args !== undefined);
}

/** The result of a cut-off call, for the model. */
export function cutResult({ call_id, name }: ToolCallPart, { end }: PartialAnswer): ToolResultPart {
  const tokens = end?.usage?.output_tokens;
  const limit = tokens ? `the output limit (${tokens} tokens)` : 'the output limit';
  const error = `Not run: your answer reached ${limit} in the middle of this call, so its arguments are incomplete. Write less in one answer: do the work in several smaller calls.`;
  return { type: 'tool_result', call_id, name, error };
}

/** The notice for the user after the first cut. */
export function lengthCutNotice(calls: readonly ToolCallPart[]): string {
  return `The answer reached the model's output limit in the middle of a call to ${calls.map(nameOf).join(', ')}. The call was not run; the model is asked to work in smaller steps.`;
}

/** The notice for the user if the turn ends because of it. */
export function cutStop(calls: readonly ToolCallPart[]): string {
  return `Stopped: the answer reached the model's output limit in the middle of a call to ${calls.map(nameOf).join(', ')}, which was not run. Ask for the work in smaller steps.`;
}

const nameOf = ({ name }: ToolCallPart): string => name || 'a tool';
