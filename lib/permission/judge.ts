import { unreachable } from '../errors.js';
import type { Access, ServerAccess } from './access.js';
import { inTime } from './judging-bound.js';
import { type JudgeContext, judgePath, type Verdict } from './paths/judge-path.js';
import { covers, mayCover } from './rules/argument-rules.js';
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
    case 'memory':
      return judgeMemory(tool, rules);
    case 'server':
      return judgeServer(tool, access, rules);
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
  const verdict = await inTime((ending) => judge(tool, access, rules, { ...context, signal: ending }), signal);
  const mayBeDenied = rules.deny.length > 0;
  return verdict ?? { decision: 'ask', reason: 'judging it takes too long', rule: null, mayBeDenied };
}

/** What is no file and no command, by the rules that restrict it; null where none does. */
function restricted(
  kind: Access['kind'],
  tool: string | null,
  { deny, ask }: Rules,
  isMeant: (rule: Rule) => boolean = () => true,
): Verdict | null {
  const first = (list: readonly Rule[]): Rule | undefined =>
    list.find((rule) => concerns(rule, kind, tool) && isMeant(rule));
  const denied = first(deny);
  if (denied) return { decision: 'deny', reason: `the rule '${denied.source}' forbids it` };
  const asked = first(ask);
  return asked ? { decision: 'ask', reason: `the rule '${asked.source}' says ask`, rule: null } : null;
}

/** Nothing outside of the conversation is read: it needs a rule only to be kept from it. */
const judgeConversation = (tool: string | null, rules: Rules): Verdict =>
  restricted('conversation', tool, rules) ?? { decision: 'allow' };

/** A line of the memory file speaks in every later request, so that the user says yes to each line, or to all of them. */
function judgeMemory(tool: string | null, rules: Rules): Verdict {
  const verdict = restricted('memory', tool, rules);
  if (verdict !== null) return verdict;
  if (rules.allow.some((rule) => concerns(rule, 'memory', tool))) return { decision: 'allow' };
  return { decision: 'ask', reason: 'what it contains is sent with every later request', rule: tool };
}

/** What another program does with a call is not known, so that the user says yes to each call, or to the tool as it was described then. */
function judgeServer(tool: string | null, { about, changed, args }: ServerAccess, rules: Rules): Verdict {
  const verdict = restricted('server', tool, rules, (rule) => mayCover(rule, args));
  if (verdict !== null) return verdict;
  if (changed !== null) return { decision: 'ask', reason: changed, rule: tool };
  if (rules.allow.some((rule) => concerns(rule, 'server', tool) && covers(rule, args))) return { decision: 'allow' };
  return { decision: 'ask', reason: about, rule: tool };
}
