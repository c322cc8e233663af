import { unreachable } from '../errors.js';
import { type Access, inTime, type ServerAccess } from './access.js';
import { judgeCommand } from './judge-command.js';
import { type JudgeContext, judgePath, type Verdict } from './paths/judge-path.js';
import { concerns, covers, mayCover, type Rule, type Rules } from './rules/rules.js';

/**
 * Decides about an access: `deny` beats `ask` beats `allow`. `tool` is the tool that was called; null for an access
 * that is only part of a call.
 */
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
      // The shell parser is loaded for the first command only.
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

/**
 * Like `judge`, but with a time limit: an access that is not decided in time needs approval. Rejects when `signal`
 * fires.
 */
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

/** The verdict of the rules that restrict an access to anything but files and commands; null when none does. */
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
  return asked ? { decision: 'ask', reason: `the rule '${asked.source}' says to ask`, rule: null } : null;
}

/** Only the conversation itself is read, so this is allowed unless a rule restricts it. */
const judgeConversation = (tool: string | null, rules: Rules): Verdict =>
  restricted('conversation', tool, rules) ?? { decision: 'allow' };

/**
 * A line of the memory file is sent with every later request, so the user approves each line, or all lines by a rule.
 */
function judgeMemory(tool: string | null, rules: Rules): Verdict {
  const verdict = restricted('memory', tool, rules);
  if (verdict !== null) return verdict;
  if (rules.allow.some((rule) => concerns(rule, 'memory', tool))) return { decision: 'allow' };
  return { decision: 'ask', reason: 'what it contains is sent with every later request', rule: tool };
}

/**
 * Nobody knows what another program does with a call, so the user approves each call, or the tool as it was described
 * at the time.
 */
function judgeServer(tool: string | null, { about, changed, args }: ServerAccess, rules: Rules): Verdict {
  const verdict = restricted('server', tool, rules, (rule) => mayCover(rule, args));
  if (verdict !== null) return verdict;
  if (changed !== null) return { decision: 'ask', reason: changed, rule: tool };
  if (rules.allow.some((rule) => concerns(rule, 'server', tool) && covers(rule, args))) return { decision: 'allow' };
  return { decision: 'ask', reason: about, rule: tool };
}
