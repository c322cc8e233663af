import { SERVER_TOOL_PREFIX } from '../../chat/tool-key.js';

/** The longest name that every vendor accepts. */
const LONGEST = 63;

/**
 * The name of a server's tool as the model knows it: `mcp__SERVER__TOOL`, of letters, digits, `_` and `-`. A longer one keeps its head and gets a
 * hash of all of it, so that two tools do not become one. It is never taken apart again.
 */
export function modelName(server: string, tool: string): string {
  const whole = `${serverPrefix(server)}${allowed(tool)}`;
  return whole.length <= LONGEST ? whole : shortened(whole, `${server}\0${tool}`);
}

/** The prefix of the names of a server's tools, as rules have it before `*`. */
export function serverPrefix(server: string): string {
  return `${SERVER_TOOL_PREFIX}${allowed(server)}__`;
}

const allowed = (name: string): string => name.replace(/[^A-Za-z0-9_-]/g, '_');

function shortened(whole: string, original: string): string {
  const hash = shortHash(original);
  return `${whole.slice(0, LONGEST - hash.length - 1)}_${hash}`;
}

/** Eight hexadecimal digits (FNV-1a). It need not be strong: a name already in use is refused. */
export function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
