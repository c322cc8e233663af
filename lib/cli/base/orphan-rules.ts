import { SERVER_TOOL_PREFIX } from '../../chat/request.js';
import { serverPrefix } from '../../mcp/base/server-entry.js';
import type { Permissions, RuleEntry, RuleSubject } from '../../permission/rules/rules.js';

/** Lets rules name tools of MCP servers, which are not known before a server runs. */
export const SERVER_TOOLS: RuleSubject = {
  name: SERVER_TOOL_PREFIX,
  accessKind: 'server',
  rulesCoverKind: false,
  isFamily: true,
};

/** Notes about rules for tools of servers that are not configured: such a server may be added later, or its name may be misspelt. */
export function orphanRules(permissions: Partial<Permissions>, servers: readonly string[]): readonly string[] {
  const known = servers.map(serverPrefix);
  const rules = Object.values(permissions).flatMap((list: readonly RuleEntry[]) => list.map(textOf));
  return rules
    .filter((rule) => rule.startsWith(SERVER_TOOL_PREFIX) && !known.some((prefix) => concerns(rule, prefix)))
    .map((rule) => `The rule '${rule}' names a server that is not configured.`);
}

const textOf = (entry: RuleEntry): string => (typeof entry === 'string' ? entry : entry.rule).trim();

/** Whether a rule may be about a tool whose name begins so. */
function concerns(rule: string, prefix: string): boolean {
  const [name = ''] = rule.split('(');
  return name.startsWith(prefix) || (name.includes('*') && prefix.startsWith(name.slice(0, name.indexOf('*'))));
}
