import type { ModelMemory } from '../../chat/model.js';
import type { ChatRequest } from '../../chat/request.js';
import type { RequestRefusal } from '../../providers/common/provider.js';
import { lessonOf } from './lessons.js';
import { withoutRefusedTools } from './refused-tools.js';

/**
 * Remembers what a server refused after a part of its answer was shown, so that the question cannot be asked again: the next one goes without it. Returns
 * the notice to the user; null where nothing was learnt or it makes no difference to them.
 */
export function learnLate(request: ChatRequest, refusal: RequestRefusal, memory: ModelMemory): string | null {
  const fewer = withoutRefusedTools(request, refusal, memory);
  if (fewer !== null) return fewer.notice;
  const lesson = lessonOf(refusal, request, Date.now());
  if (lesson === null || lesson.passes) return null;
  memory.learn(lesson.facts);
  return lesson.notice;
}
