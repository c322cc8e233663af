import { type ModelMemory, mergeFacts } from '../../chat/model.js';
import { type ChatRequest, SERVER_TOOL_PREFIX, type ToolSpec, takenTools, toolKey } from '../../chat/request.js';
import type { RequestRefusal } from '../../providers/common/provider.js';

/** Matches refusals of a tool's definition rather than of a call. */
const OF_DEFINITIONS = /schema|parameters|propert|function_?declaration|unmarshal|\btools?[.[]\d|description/i;
const OF_CALLS = /tool_calls?\b|tool_use|messages?[.[]\d|contents[.[]\d|input[.[]\d/i;

/** How Google, and OpenAI and Anthropic, refer to a tool by its index. */
const PLACES = [/function_?declarations[[.](\d{1,4})/gi, /\btools[[.](\d{1,4})/gi] as const;

/**
 * The request without the MCP tools whose definition was refused, which is remembered: the named tool or, if the message is about
 * definitions but names none, all of them. Null if it is about something else.
 */
export function withoutRefusedTools(
  request: ChatRequest,
  { said }: RequestRefusal,
  memory: ModelMemory,
): { readonly request: ChatRequest; readonly notice: string } | null {
  const sent = takenTools(request.tools, request.facts?.refused_tools);
  const refused = refusedIn(said, sent);
  if (refused.length === 0) return null;
  const facts = { refused_tools: refused.map(toolKey), refused_at: { tool_definitions: Date.now() } };
  memory.learn(facts);
  const names = refused.map(({ name }) => name).join(', ');
  const [what, they] = refused.length === 1 ? ['the tool', 'it is'] : ['one of the tools', 'they are'];
  return {
    request: { ...request, facts: mergeFacts(request.facts ?? {}, facts) },
    notice: `'${request.model}' refused ${what} ${names}: ${they} left out. (${said})`,
  };
}

function refusedIn(said: string, sent: readonly ToolSpec[]): readonly ToolSpec[] {
  // Built-in tools are accepted everywhere.
  const ofServers = sent.filter(({ name }) => name.startsWith(SERVER_TOOL_PREFIX));
  if (ofServers.length === 0 || !OF_DEFINITIONS.test(said) || OF_CALLS.test(said)) return [];
  const words = new Set(said.match(/[\w-]+/g));
  const named = ofServers.filter(({ name }) => words.has(name));
  if (named.length > 0) return named;
  for (const pattern of PLACES) {
    const places = [...said.matchAll(pattern)].map(([, place]) => Number(place));
    if (places.length > 0)
      return [...new Set(places)].flatMap((place) => sent[place] ?? []).filter((tool) => ofServers.includes(tool));
  }
  return /schema|unmarshal|function_?declaration/i.test(said) ? ofServers : [];
}
