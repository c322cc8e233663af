import type { ChatEvent } from '../../chat/event.js';
import { estimateParts } from '../../chat/media.js';
import type { ModelFacts, ModelMemory } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import { windowIn } from '../../chat/text.js';
import { HiError } from '../../errors.js';
import { RequestRefusal } from '../../providers/common/provider.js';
import type { Adapted } from '../refusals/adapt-request.js';
import { learnLate } from '../refusals/learn-late.js';
import type { PartialAnswer, StreamEnd } from './partial-answer.js';

/** How often a request is sent again without what the server refused, and without what it may have refused. */
export const MOST_REFUSALS = 3;
export const MOST_GUESSES = 2;

/**
 * What a refused request says about the window: its size, or that the known size is wrong and must be asked for again. If the window cut the answer,
 * it holds no more than the request and the part received.
 */
export function learntFrom({ message }: HiError, request: ChatRequest, { parts }: PartialAnswer): ModelFacts {
  const context_window = windowIn(message);
  if (context_window !== null) return { context_window };
  const filled = request.estimated_tokens + estimateParts(parts);
  return parts.length > 0 && filled < request.context_window ? { context_window: filled } : { asked_at: 1 };
}

/** What is asked in place of a request whose content was refused: by an error, or by an answer without a word. */
export async function withoutContent(
  request: ChatRequest,
  refused: HiError | StreamEnd,
  times: number,
): Promise<Adapted | null> {
  const isRefused = refused instanceof HiError ? refused.code === 'refused' : refused.stop_reason === 'refusal';
  if (!isRefused || times === MOST_GUESSES) return null;
  const { withoutRefusedContent } = await import('../refusals/earlier-messages.js');
  const said = refused instanceof HiError ? refused.message : refused.detail;
  return withoutRefusedContent(request, said ?? 'It declined to answer.', times > 0);
}

export async function learntLate(request: ChatRequest, thrown: HiError, memory: ModelMemory): Promise<string | null> {
  if (!(thrown instanceof RequestRefusal)) return null;
  return learnLate(request, thrown, memory);
}

export const warning = (text: string): ChatEvent => ({ type: 'notice', level: 'warning', text });
