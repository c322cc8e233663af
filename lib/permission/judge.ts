import { unreachable } from '../errors.js';
import type { Access } from '../tools/tool.js';
import { judgePath, type Surroundings, type Verdict } from './paths/judge-path.js';
import type { Rules } from './rules/rules.js';

/** Decides about a call from what it would do: `deny` beats `ask` beats `allow` (SPEC §7). */
export async function judge(tool: string, access: Access, rules: Rules, around: Surroundings): Promise<Verdict> {
  switch (access.kind) {
    case 'read':
    case 'write':
      return judgePath(tool, access.kind, access.path, rules, around);
    case 'execute': {
      // What takes commands apart is not needed before there is one.
      const { judgeCommand } = await import('./judge-command.js');
      return judgeCommand(access.command, rules, around);
    }
    default:
      return unreachable(access);
  }
}
