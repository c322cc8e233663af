import { isMessage } from '../chat/entry.js';
import type { WebMode } from '../chat/model.js';
import type { ToolSpec } from '../chat/request.js';
import type { SessionDeps, Target, TurnOptions } from './common/deps.js';
import type { ContextDeps } from './context/request-overhead.js';

interface ModelInUse {
  readonly target: Target;
  readonly web: WebMode;
}

interface TurnTools {
  readonly request: Pick<ContextDeps, 'tools'> & Partial<Pick<ContextDeps, 'tool_choice'>>;
  /** Whether none are sent because the session has been told to do without. */
  readonly isBare: boolean;
}

/** Whether the model may call tools in this turn, if there are any. */
export const mayCallTools = (tools: SessionDeps['tools'], options: TurnOptions): boolean =>
  options.tools !== false && tools.others === undefined;

/** The tools to send. Those of a server that is starting come later. */
export function turnTools(
  { history, tools }: Pick<SessionDeps, 'history' | 'tools'>,
  settings: ModelInUse,
  options: TurnOptions,
): TurnTools {
  if (mayCallTools(tools, options)) return { request: { tools: () => tools.specs }, isBare: false };
  const kept = options.tools === false ? [] : keptTools({ history, tools }, settings);
  const isBare = tools.others !== undefined && kept.length === 0;
  return { request: { tools: () => kept, tool_choice: 'none' }, isBare };
}

/**
 * The tools to send although none may be called: the server has just read them before the conversation, and without
 * them it would read all of it again.
 */
function keptTools(
  { history, tools }: Pick<SessionDeps, 'history' | 'tools'>,
  { target, web }: ModelInUse,
): readonly ToolSpec[] {
  const last = history.entries.findLast((entry) => isMessage(entry) && entry.id === entry.turn);
  if (last === undefined || !isMessage(last) || last.tools === 'none' || !target.keeps_tools || web !== 'off')
    return [];
  const since = history.now().getTime() - Date.parse(history.entries.findLast(isMessage)?.at ?? last.at);
  return since <= (target.cache_rates?.terms[0].life ?? 0) ? (tools.others ?? []) : [];
}
