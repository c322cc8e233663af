import type { ChatEvent } from '../chat/event.js';
import type { Target } from './common/deps.js';

/** Asks the server about the model where that is due. Yields a notice when that shows that the model takes no tools, which are then left out from the first request on. */
export async function* askAboutModel(
  target: Target,
  hasTools: boolean,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  const takesTools = (): boolean => target.memory.facts.takes?.tools !== false;
  const before = takesTools();
  await target.ask?.(signal);
  if (!hasTools || !before || takesTools()) return;
  yield { type: 'notice', level: 'warning', text: `'${target.model}' takes no tools here: it answers without them.` };
}
