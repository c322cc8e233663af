import type { Chat } from './chat.js';
import { runProgram } from './program.js';
import { type Scenario, type ToolServer, toolServer } from './tool-server.js';

/** Gives a chat that was not opened yet one MCP server, `notes`, of which everything is known. */
export async function withToolServer(chat: Chat, scenario: Scenario, more: object = {}): Promise<ToolServer> {
  const server = toolServer(chat.home.folder, 'notes', scenario);
  const mcpServers = { notes: server.entry };
  const config = { provider: 'openai', model: 'scripted', api_base: chat.server.base, mcpServers, ...more };
  chat.home.writeConfig(JSON.stringify(config));
  await runProgram(chat.home, ['mcp', 'test', 'notes']);
  return server;
}
