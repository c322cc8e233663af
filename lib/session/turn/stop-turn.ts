import type { ChatEvent } from '../../chat/event.js';
import { isPart, type Message, type NewMessage, type ToolCallPart, type ToolResultPart } from '../../chat/message.js';
import type { Provider } from '../../providers/common/provider.js';
import { cutResult, cutStop, MOST_CUTS } from './length-cut.js';
import type { PartialAnswer } from './partial-answer.js';
import type { Progress, TurnOutcome } from './progress.js';

/** The dependencies needed to end a turn; see `TurnDeps`. */
export interface StopDeps {
  readonly provider: Pick<Provider, 'name'>;
  readonly model: string;
  readonly maxRounds: number;
  append(messages: readonly NewMessage[]): Promise<readonly Message[]>;
  cwd(): string;
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

/** How many answers in a row may consist of calls whose arguments are not JSON: some servers cut off a call without saying so. */
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
  deps: StopDeps,
  calls: readonly ToolCallPart[],
  results: readonly ToolResultPart[],
  { stop_reason, text }: { readonly stop_reason: 'length' | 'tool_limit'; readonly text: string },
  progress: Progress,
): AsyncGenerator<ChatEvent, TurnOutcome['stop_reason']> {
  const closing: NewMessage = {
    role: 'assistant',
    content: [],
    cwd: deps.cwd(),
    provider: deps.provider.name,
    model: deps.model,
    stop_reason,
  };
  await deps.append([{ role: 'tool', content: results, cwd: deps.cwd() }, closing]);
  progress.takeResults(calls, results);
  yield { type: 'notice', level: 'warning', text };
  return stop_reason;
}
