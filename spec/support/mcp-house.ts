import { readdirSync, readFileSync } from 'node:fs';
import { type Home, makeHome, type Run, type RunOptions, runProgram } from './program.js';
import { type ScriptedServer, type SentRequest, startScriptedServer } from './scripted-server.js';
import { type Scenario, type ToolServer, toolServer } from './tool-server.js';

/** A call that a scripted model makes. */
export interface ScriptedCall {
  readonly name: string;
  readonly args: object;
}

/** A run of `hi ask`, and how often a tool of the server was called so far. */
export type AskRun = Run & { readonly called: number };

/** A user with one MCP server, `notes`, and a model that makes the same calls in every conversation, one a round. */
export interface McpHouse {
  readonly home: Home;
  readonly server: ToolServer;
  readonly model: { readonly server: ScriptedServer; reset(): void };
  configure(more: object, entry?: object): void;
  ask(args?: readonly string[], options?: RunOptions): Promise<AskRun>;
  /** The processes that were started for the server and are still there. */
  running(): readonly number[];
  close(): Promise<void>;
}

export async function mcpHouse(
  scenario: Scenario,
  calls: readonly ScriptedCall[],
  more: object = {},
  entry: object = {},
): Promise<McpHouse> {
  let first = 0;
  const model = await startScriptedServer((_request, index) => {
    const call = calls[index - first];
    return call === undefined ? { text: 'done' } : { calls: [call] };
  });
  const home = makeHome(null);
  const server = toolServer(home.folder, 'notes', scenario);
  const house: McpHouse = {
    home,
    server,
    model: {
      server: model,
      reset: () => {
        first = model.requests.length;
      },
    },
    configure(settings, changed = {}) {
      const mcpServers = { notes: { ...server.entry, ...changed } };
      const config = { provider: 'openai', model: 'scripted', api_base: model.base, mcpServers, ...settings };
      home.writeConfig(JSON.stringify(config));
    },
    async ask(args = [], options = {}) {
      const run = await runProgram(home, ['ask', ...args, 'go'], options);
      return { ...run, called: server.requests().filter(({ method }) => method === 'tools/call').length };
    },
    running: () => processesOf(home.folder),
    async close() {
      await model.close();
      home.remove();
    },
  };
  house.configure(more, entry);
  return house;
}

/** The processes whose command line names something in this folder. */
function processesOf(folder: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && commandLine(name).includes(folder))
    .map(Number);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** What is said of most runs. */
export const asked = ({ status, called }: AskRun) => ({ status, called });

const request = ({ model }: McpHouse, index: number): SentRequest | undefined => model.server.requests.at(index);

/** The names of the tools in a request. */
export const offeredTools = (house: McpHouse, index = -1): readonly string[] =>
  (request(house, index)?.tools ?? []).map((tool) => JSON.parse(JSON.stringify(tool)).function.name);

/** What the tools returned since the last question, as a request has it. */
export function toolResults(house: McpHouse, index = -1): readonly string[] {
  const messages = request(house, index)?.messages ?? [];
  const begin = messages.findLastIndex(
    ({ role, content }) => role === 'user' && !JSON.stringify(content).includes('From the tools'),
  );
  return messages
    .slice(begin)
    .filter(({ role }) => role === 'tool')
    .map(({ content }) => String(content));
}
