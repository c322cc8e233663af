import { isMessage } from '../chat/entry.js';
import type { WebMode } from '../chat/model.js';
import type { ToolSpec } from '../chat/request.js';
import type { SessionDeps, Target } from './common/deps.js';

/**
 * The tools to send although none may be called: the server has just read them before the conversation, and without
 * them it would read all of it again.
 */
export function keptTools(
  { history, tools }: Pick<SessionDeps, 'history' | 'tools'>,
  { target, web }: { readonly target: Target; readonly web: WebMode },
): readonly ToolSpec[] {
  const last = history.entries.findLast((entry) => isMessage(entry) && entry.id === entry.turn);
  if (last === undefined || !isMessage(last) || last.tools === 'none' || !target.keeps_tools || web !== 'off')
    return [];
  const since = history.now().getTime() - Date.parse(history.entries.findLast(isMessage)?.at ?? last.at);
  return since <= (target.cache_rates?.terms[0].life ?? 0) ? (tools.others ?? []) : [];
}
