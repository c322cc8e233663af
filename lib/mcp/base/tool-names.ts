import { createHash } from 'node:crypto';
import { SERVER_TOOL_PREFIX } from '../../chat/request.js';

/** The longest name that every vendor accepts. */
const LONGEST = 63;

/** The longest part of a name that stands for the server. */
const LONGEST_SERVER = 32;

/** How many hexadecimal digits tell a server from others whose names look the same; `HASHED` is their pattern. */
const DIGITS = 12;

/**
 * The name of a server's tool as the model knows it: `mcp__SERVER__TOOL`, of letters, digits, `_` and `-`. A longer one keeps its head and gets a
 * hash of all of it, so that two tools do not become one. It is never taken apart again.
 */
export function modelName(server: string, tool: string): string {
  const whole = `${serverPrefix(server)}${allowed(tool)}`;
  return whole.length <= LONGEST ? whole : shortened(whole, `${server}\0${tool}`);
}

/** The prefix of the names of a server's tools, as rules have it before `*`. It begins no tool name of another server. */
export function serverPrefix(server: string): string {
  return `${SERVER_TOOL_PREFIX}${serverPart(server)}__`;
}

/** The server's own name if it can be told where it ends, and if no other server gets it; else what is left of the name, and a hash of all of it. */
function serverPart(server: string): string {
  const isPlain = allowed(server) === server && !/__|_$/.test(server) && !HASHED.test(server);
  if (isPlain && server.length <= LONGEST_SERVER) return server;
  const head = allowed(server)
    .replace(/_+/g, '_')
    .slice(0, LONGEST_SERVER - DIGITS - 1);
  return `${head}-${createHash('sha256').update(server).digest('hex').slice(0, DIGITS)}`;
}

const HASHED = /-[0-9a-f]{12}$/;

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
