import type { ChatEvent } from '../chat/event.js';
import type { Target } from './common/deps.js';

/** Asks the server about the model if needed. Yields a notice if the model does not support tools, which are then left out of every request. */
export async function* askAboutModel(
  target: Target,
  hasTools: boolean,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  const takesTools = (): boolean => target.memory.facts.takes?.tools !== false;
  const before = takesTools();
  await target.ask?.(signal);
  if (!hasTools || !before || takesTools()) return;
  yield {
    type: 'notice',
    level: 'warning',
    text: `'${target.model}' does not support tools here: it answers without them.`,
  };
}
