import type { SlashCommand } from './common/command.js';

/** `/mcp`: lists the servers of tools. */
export const slashMcp: SlashCommand = {
  name: 'mcp',
  usage: '/mcp',
  summary: 'list the servers of tools (MCP), and what is known of them',
  isOnCommandLine: true,
  async *run(_argument, { servers }) {
    const lines = servers();
    yield {
      type: 'print',
      text: lines.length === 0 ? 'There are no servers. To add one, run: hi mcp add' : lines.join('\n'),
    };
  },
};
