import { unreachable } from '../errors.js';
import type { Access } from './access.js';
import { inTime } from './judging-bound.js';
import { type JudgeContext, judgePath, type Verdict } from './paths/judge-path.js';
import { concerns, type Rule, type Rules } from './rules/rules.js';

/** Decides about an access: `deny` beats `ask` beats `allow` (SPEC §7). `tool` is the tool whose call it is; null for an access that is no call by itself. */
export async function judge(
  tool: string | null,
  access: Access,
  rules: Rules,
  context: JudgeContext,
): Promise<Verdict> {
  switch (access.kind) {
    case 'read':
    case 'write':
      return judgePath(tool, access, rules, context);
    case 'execute': {
      // What takes commands apart is not needed before there is one.
      const { judgeCommand } = await import('./judge-command.js');
      return judgeCommand(access.command, rules, context);
    }
    case 'conversation':
      return judgeConversation(tool, rules);
    default:
      return unreachable(access);
  }
}

/** The same, where it may not take for ever: what is not decided in time is asked for. Rejects when `signal` fires. */
export async function judgeInTime(
  tool: string | null,
  access: Access,
  rules: Rules,
  context: JudgeContext,
  signal: AbortSignal,
): Promise<Verdict> {
  const verdict = await inTime(judge(tool, access, rules, context), signal);
  const mayBeDenied = rules.deny.length > 0;
  return verdict ?? { decision: 'ask', reason: 'judging it takes too long', rule: null, mayBeDenied };
}

/** Nothing outside of the conversation is read: it needs a rule only to be kept from it. */
function judgeConversation(tool: string | null, { deny, ask }: Rules): Verdict {
  const first = (list: readonly Rule[]): Rule | undefined => list.find((rule) => concerns(rule, 'conversation', tool));
  const denied = first(deny);
  if (denied) return { decision: 'deny', reason: `the rule '${denied.source}' forbids it` };
  const asked = first(ask);
  if (asked) return { decision: 'ask', reason: `the rule '${asked.source}' says ask`, rule: null };
  return { decision: 'allow' };
}
