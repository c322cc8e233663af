import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type Home, makeHome, PROGRAM, RUNTIME, type Run, runProgram } from '../../spec/support/program.js';
import { startScriptedServer } from '../../spec/support/scripted-server.js';

/** The two ways to call the tools: the command that tests a server, or a model in a conversation. */
export const WAYS = ['mcp test', 'ask'] as const;
export type Way = (typeof WAYS)[number];

/** The name of the server in the configuration. */
const NAME = 'suite';

/** The maximum number of times the user follows hi's instructions. */
const MOST_LOGINS = 3;

/** The scenarios in which the server asks the user something, which needs a terminal. */
const ASKING = ['elicitation-sep1034-client-defaults', 'sep-2322-client-request-state'];

/** The interval at which the user checks for a question, in milliseconds. */
const LOOK = 400;

interface Call {
  readonly name: string;
  readonly arguments: object;
}

/** The calls that a scenario expects. Scenarios about authorization expect `test-tool`. */
const CALLS: Readonly<Record<string, readonly Call[]>> = {
  initialize: [],
  tools_call: [{ name: 'add_numbers', arguments: { a: 5, b: 3 } }],
  'elicitation-sep1034-client-defaults': [{ name: 'test_client_elicitation_defaults', arguments: {} }],
  'sse-retry': [{ name: 'test_reconnection', arguments: {} }],
  'request-metadata': [],
  'sep-2322-client-request-state': [
    'test_mrtr_echo_state',
    'test_mrtr_no_state',
    'test_mrtr_unrelated',
    'test_mrtr_no_result_type',
  ].map((name) => ({ name, arguments: {} })),
  'http-standard-headers': [{ name: 'test_headers', arguments: {} }],
  'http-invalid-tool-headers': [{ name: 'valid_tool', arguments: { region: 'us-west1' } }],
  'json-schema-ref-no-deref': [],
};

/** The suite's data for a client, apart from the address. */
interface Context {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly issuer?: string;
  readonly toolCalls?: readonly Call[];
}

/** The address of a client metadata document that the suite knows. */
const CLIENT_DOCUMENT = 'https://conformance-test.local/client-metadata.json';

/**
 * Plays a user who has the server of a scenario in the configuration and follows hi's instructions. Resolves to the
 * exit status.
 */
export async function playUser(way: Way, url: string): Promise<number> {
  const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
  const context: Context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
  const calls = context.toolCalls ?? CALLS[scenario] ?? [{ name: 'test-tool', arguments: {} }];
  const home = makeHome(null);
  try {
    const entry = { type: 'http', url, ...oauthOf(scenario, context) };
    const turn = way === 'ask' ? askFor(home, entry, calls) : testWith(home, entry, calls);
    return await repeated(home, turn);
  } finally {
    home.remove();
  }
}

function oauthOf(scenario: string, { client_id, client_secret, issuer }: Context): object {
  if (scenario === 'auth/basic-cimd') return { oauth: { clientId: CLIENT_DOCUMENT } };
  return client_id === undefined ? {} : { oauth: { clientId: client_id, clientSecret: client_secret, issuer } };
}

/** One attempt: the exit status and all output of hi. */
type Attempt = () => Promise<{ readonly status: number; readonly text: string }>;

async function repeated(home: Home, attempt: Attempt): Promise<number> {
  for (let logins = 0; ; logins += 1) {
    const { status, text } = await attempt();
    process.stderr.write(text);
    if (!text.includes(`Run: hi mcp login ${NAME}`)) return status;
    if (logins === MOST_LOGINS) return 1;
    const login = await logIn(home);
    if (login !== 0) return login;
  }
}

/** Tries the server, once for each call. */
function testWith(home: Home, entry: object, calls: readonly Call[]): Attempt {
  home.writeConfig(JSON.stringify({ mcpServers: { [NAME]: entry } }));
  return async () => {
    const orders = calls.map((call) => ['--call', `${call.name}=${JSON.stringify(call.arguments)}`]);
    const runs: Run[] = [];
    for (const order of orders.length === 0 ? [[]] : orders)
      runs.push(await runHi(home, ['mcp', 'test', NAME, '--json', ...order]));
    const status = runs.find((run) => run.status !== 0)?.status ?? 0;
    return { status, text: runs.map(({ stdout, stderr }) => stdout + stderr).join('') };
  };
}

/** Asks a model that makes the calls, one per round. A failed call makes the whole attempt fail. */
function askFor(home: Home, entry: object, calls: readonly Call[]): Attempt {
  return async () => {
    const model = await startScriptedServer((_request, index) => {
      const call = calls[index];
      return call === undefined
        ? { text: 'done' }
        : { calls: [{ name: `mcp__${NAME}__${call.name}`, args: call.arguments }] };
    });
    const settings = { provider: 'openai', model: 'scripted', api_base: model.base };
    home.writeConfig(JSON.stringify({ ...settings, mcpServers: { [NAME]: entry } }));
    try {
      const { status, stdout, stderr } = await runHi(home, ['ask', '-y', 'go']);
      const messages = model.requests.at(-1)?.messages ?? [];
      const asked = messages.findLastIndex(({ role, content }) => role === 'user' && String(content).includes('go'));
      const results = messages
        .slice(asked)
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => String(content));
      const hasFailed = results.length < calls.length || results.some((result) => result.startsWith('{"error"'));
      return { status: status || Number(hasFailed), text: [stdout, stderr, ...results].join('\n') };
    } finally {
      await model.close();
    }
  };
}

/** Runs hi, on a terminal if the scenario asks questions: the user accepts the defaults. */
async function runHi(home: Home, args: readonly string[]): Promise<Run> {
  if (!ASKING.includes(process.env.MCP_CONFORMANCE_SCENARIO ?? '')) return await runProgram(home, args);
  const { openTerminal } = await import('../../spec/support/terminal.js');
  const terminal = openTerminal(RUNTIME, [PROGRAM, ...args], { env: home.env, cwd: home.work, rows: 100 });
  const looking = setInterval(() => {
    if (/^\? /m.test(terminal.screen())) terminal.type('\r');
  }, LOOK);
  const { status } = await terminal.exit();
  clearInterval(looking);
  const stdout = terminal.transcript();
  await terminal.close();
  return { status, stdout, stderr: '' };
}

/** Logs in, and opens the address that hi prints like a browser. */
async function logIn(home: Home): Promise<number> {
  const child = spawn(RUNTIME, [PROGRAM, 'mcp', 'login', NAME], {
    cwd: home.work,
    env: { ...home.env },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  for await (const line of createInterface({ input: child.stderr })) {
    process.stderr.write(`${line}\n`);
    const url = /https?:\/\/\S+[?&]response_type=code\S*/.exec(line)?.[0];
    if (url !== undefined) void fetch(url).catch((thrown) => process.stderr.write(`${String(thrown)}\n`));
  }
  if (child.exitCode === null) await new Promise((done) => child.once('exit', done));
  return child.exitCode ?? 1;
}
