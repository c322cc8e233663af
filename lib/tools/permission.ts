import { unreachable } from '../errors.js';
import { judgeCommand } from './judge-command.js';
import { judgePath, type Surroundings, type Verdict } from './judge-path.js';
import type { Rules } from './rule.js';
import type { Access } from './tool.js';

/** Decides about a call from what it would do: `deny` beats `ask` beats `allow` (SPEC §7). */
export function judge(tool: string, access: Access, rules: Rules, around: Surroundings): Promise<Verdict> {
  switch (access.kind) {
    case 'read':
    case 'write':
      return judgePath(tool, access.kind, access.path, rules, around);
    case 'execute':
      return judgeCommand(access.command, rules, around);
    default:
      return unreachable(access);
  }
}
