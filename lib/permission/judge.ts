import { unreachable } from '../errors.js';
import type { Access } from './access.js';
import { type JudgeContext, judgePath, type Verdict } from './paths/judge-path.js';
import type { Rules } from './rules/rules.js';

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
    default:
      return unreachable(access);
  }
}
