/** What a session with MCP servers is made of, in one part: the build puts into it all that a start needs of them. */
export { ToolServers } from '../../mcp/tool-servers.js';
export { connectionDeps, usableServers } from '../base/configured-servers.js';
export { promptCommands } from '../from-servers/prompt-commands.js';
