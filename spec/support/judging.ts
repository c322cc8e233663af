import { judgeCommand } from '../../lib/permission/judge-command.js';
import type { JudgeContext, Verdict } from '../../lib/permission/paths/judge-path.js';
import { type Permissions, readRules } from '../../lib/permission/rules/rules.js';
import { tools } from '../../lib/tools/index.js';

/** A judge of commands with these rules, in a folder that need not exist. */
export function judgeWith(permissions: Partial<Permissions>, around: Partial<JudgeContext> = {}) {
  const rules = readRules({ allow: [], ask: [], deny: [], ...permissions }, tools, '/nowhere/project');
  const surroundings: JudgeContext = {
    root: '/nowhere/project',
    workingFolder: '/nowhere/project',
    ownPlaces: [],
    freeFolders: ['/nowhere/spill'],
    hasSandbox: true,
    env: { PATH: '/usr/bin', http_proxy: 'http://127.0.0.1:1' },
    ...around,
  };
  return (command: string): Promise<Verdict> => judgeCommand(command, rules, surroundings);
}
