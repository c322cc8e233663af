import type { ToolSpec } from './request.js';

/** What the names of all tools of servers begin with. */
export const SERVER_TOOL_PREFIX = 'mcp__';

/** Names a tool as it is described: with another description it is another one. */
export function toolKey({ name, description, parameters }: ToolSpec): string {
  // Not imported: a start needs none of it.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const hash = createHash('sha256').update(JSON.stringify({ description, parameters })).digest('hex');
  return `${name} ${hash.slice(0, 16)}`;
}

/** The tools that are sent: without those that the server refused. */
export function takenTools(tools: readonly ToolSpec[], refused: readonly string[] = []): readonly ToolSpec[] {
  return refused.length === 0 ? tools : tools.filter((tool) => !refused.includes(toolKey(tool)));
}
