import { estimateTokens } from '../../chat/request.js';
import { quantity } from '../../chat/text.js';
import type { Offer, ToolDefinition } from '../../mcp/definitions/definition.js';
import { neutralise } from '../../screen/text/neutralise.js';

/** How many tokens the model reads for a tool with every request. */
export const definitionTokens = ({ name, description, parameters }: ToolDefinition): number =>
  estimateTokens(JSON.stringify({ name, description, parameters }).length);

/** What a server offers, for people: a line for each tool, and what else there is. */
export function offerText({ tools, prompts, resources, problems }: Offer): string {
  const width = tools.reduce((widest, { name }) => Math.max(widest, name.length), 0);
  const lines = tools.map(
    (tool) => `${tool.name.padEnd(width)}  ${tool.description.split('\n')[0] ?? ''} (${definitionTokens(tool)} tokens)`,
  );
  const total = tools.reduce((sum, tool) => sum + definitionTokens(tool), 0);
  const sum = `${quantity(tools.length, 'tool')}, about ${total} tokens in every request`;
  const others = [
    ...(prompts.length > 0
      ? [`${quantity(prompts.length, 'prompt')}: ${prompts.map(({ name }) => name).join(', ')}`]
      : []),
    ...(resources.length > 0 ? [quantity(resources.length, 'resource')] : []),
  ];
  return neutralise([...lines, sum, ...others, ...problems].join('\n'));
}
