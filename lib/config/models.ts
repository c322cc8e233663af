import type { MatchLogic } from '@pydantic/genai-prices';
import { DEFAULT_WINDOW } from './default-window.js';
import { MODEL_TABLE } from './model-table.js';

/** The context window of a model in tokens, from its name only; `DEFAULT_WINDOW` if its maker does not publish one. */
export function contextWindow(model: string): number {
  return publishedWindow(model) ?? DEFAULT_WINDOW;
}

/**
 * The context window that a model's maker publishes, null when none does. A maker's prefix as gateways write it (`anthropic/claude-…`) is not part of
 * the name.
 */
export function publishedWindow(model: string): number | null {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  return MODEL_TABLE.find(({ match }) => matches(match, name))?.window ?? null;
}

function matches(logic: MatchLogic, name: string): boolean {
  if ('equals' in logic) return name === logic.equals;
  if ('starts_with' in logic) return name.startsWith(logic.starts_with);
  if ('ends_with' in logic) return name.endsWith(logic.ends_with);
  if ('contains' in logic) return name.includes(logic.contains);
  if ('regex' in logic) return new RegExp(logic.regex).test(name);
  if ('or' in logic) return logic.or.some((one) => matches(one, name));
  return logic.and.every((one) => matches(one, name));
}
