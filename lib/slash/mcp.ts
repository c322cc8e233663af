import type { SlashCommand } from './common/command.js';

/** `/mcp`: lists the MCP servers. */
export const slashMcp: SlashCommand = {
  name: 'mcp',
  usage: '/mcp',
  summary: 'list the MCP servers and what they offer',
  isOnCommandLine: true,
  async *run(_argument, { servers }) {
    const lines = servers();
    yield {
      type: 'print',
      text: lines.length === 0 ? 'There are no servers. To add one, run: hi mcp add' : lines.join('\n'),
    };
  },
};
