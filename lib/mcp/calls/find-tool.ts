import { HiError } from '../../errors.js';
import type { Tool } from '../../tools/common/tool.js';

/** The name of the tool that finds the others. */
export const FIND_TOOL = 'find_tool';

/** How many definitions one call returns. */
const MOST_FOUND = 8;

/** A tool that is listed but not described in full. */
export interface ListedTool {
  readonly name: string;
  readonly line: string;
}

/** A tool that returns the definitions of listed tools, after which the model may call them. */
export function findTool(
  listed: readonly ListedTool[],
  find: (name: string) => Tool | undefined,
  show: (names: readonly string[]) => void,
): Tool {
  return {
    name: FIND_TOOL,
    accessKind: 'conversation',
    rulesCoverKind: false,
    effect: null,
    description: `Returns the full definitions of tools, which can be called after that. Give names from this list, or words to search for:\n${listed.map(({ name, line }) => `${name}: ${line}`).join('\n')}`,
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', minLength: 1, description: 'Names of tools, or words that say what one should do.' },
      },
      required: ['query'],
      additionalProperties: false,
    },
    check: ({ query }) =>
      typeof query === 'string' && query.trim() !== '' ? null : `'query' is missing: give names or words.`,
    access: () => ({ kind: 'conversation' }),
    async run({ query }) {
      const found = bestOf(listed, String(query)).flatMap(({ name }) => find(name) ?? []);
      if (found.length === 0)
        throw new HiError('usage', 'No tool matches these words. Try others, or a name from the list.');
      show(found.map(({ name }) => name));
      return { tools: found.map(({ name, description, parameters }) => ({ name, description, parameters })) };
    },
  };
}

/** The named tools or, if none is named, those that match the most words. */
function bestOf(listed: readonly ListedTool[], query: string): readonly ListedTool[] {
  const words = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}_-]+/u)
    .filter((word) => word !== '');
  const named = listed.filter(({ name }) => words.includes(name.toLowerCase()));
  if (named.length > 0) return named.slice(0, MOST_FOUND);
  const rated = listed.map((tool) => {
    const text = `${tool.name} ${tool.line}`.toLowerCase();
    return { tool, hits: words.filter((word) => text.includes(word)).length };
  });
  const found = rated.filter(({ hits }) => hits > 0).sort((a, b) => b.hits - a.hits);
  return found.slice(0, MOST_FOUND).map(({ tool }) => tool);
}
