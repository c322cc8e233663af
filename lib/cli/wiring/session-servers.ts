/** The code that a session with MCP servers needs, as one module: the build puts everything that such a start needs into its chunk. */
export { ToolServers } from '../../mcp/tool-servers.js';
export { connectionDeps, usableServers } from '../base/configured-servers.js';
export { promptCommands } from '../input/from-servers.js';
