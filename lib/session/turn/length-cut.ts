import { isPart, type ToolCallPart, type ToolResultPart } from '../../chat/message.js';
import type { PartialAnswer } from './partial-answer.js';

/** How often in one turn the length limit may cut off a tool call. A model that ignores the first hint would repeat the mistake for ever. */
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
