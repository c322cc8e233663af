import type { Access } from '../../permission/access.js';
import type { JudgeContext } from '../../permission/paths/judge-path.js';
import { namesPlaces, type RuleObject, type Rules } from '../../permission/rules/rules.js';
import type { Sandbox } from '../../permission/sandbox/sandbox.js';
import type { Approve, ToolContext } from '../common/tool.js';

/** What decides whether a call may run. */
export interface Gate {
  /** The rules, extended by what the user allows with "always". */
  rules: Rules;
  readonly context: ToolContext;
  readonly approve: Approve | null;
  readonly allowAll: boolean;
  readonly ownPlaces: readonly string[];
  readonly freeFolders: readonly string[];
  /** The sandbox of commands; null if the system has none. */
  sandbox(): Promise<Sandbox | null>;
  storeRule(rule: RuleObject): Promise<void>;
}

/** The context in which an access is judged. */
export async function judgeContext(gate: Gate, { kind }: Access): Promise<JudgeContext> {
  const { context, ownPlaces, freeFolders } = gate;
  // With -y every call is approved, so no rule that allows puts one in the sandbox; one that denies places does.
  const isNeeded =
    kind === 'execute' && (!gate.allowAll || Boolean(context.sandbox) || gate.rules.deny.some(namesPlaces));
  const { start: root, now: workingFolder } = context.cwd;
  return {
    ...context,
    root,
    workingFolder,
    ownPlaces,
    freeFolders,
    hasSandbox: isNeeded && (await gate.sandbox()) !== null,
  };
}
