import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import {
  type ActiveSessionMessage,
  type ClientContext,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/chat/json.js';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { type Reply, type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

let home: Home;
let server: ScriptedServer;
let replies: Reply[];
let agent: ChildProcess;
let exited: Promise<unknown[]>;
let lines: JsonObject[];
let asked: RequestPermissionRequest[];
let answer: string | null;

beforeEach(async () => {
  replies = [];
  server = await startScriptedServer((_request, index) => replies[index] ?? { text: 'Done.' });
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
  lines = [];
  asked = [];
  answer = 'once';
});

afterEach(async () => {
  agent?.kill();
  await server.close();
  home.remove();
});

/** A client of the SDK that talks to the built program, and keeps every line that the program wrote. */
async function withClient<Result>(
  work: (context: ClientContext) => Promise<Result>,
  ...args: string[]
): Promise<Result> {
  agent = spawn(RUNTIME, [PROGRAM, 'acp', ...args], {
    cwd: home.folder,
    env: home.env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  exited = once(agent, 'exit');
  const { stdin, stdout } = agent;
  if (stdin === null || stdout === null) throw new Error('The program has no streams.');
  let rest = '';
  stdout.on('data', (chunk) => {
    const parts = (rest + chunk).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts.map((line) => JSON.parse(line)));
  });
  const stream = ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout) as ReadableStream<Uint8Array>);
  return await client({ name: 'spec' })
    .onRequest(methods.client.session.requestPermission, async ({ params }): Promise<RequestPermissionResponse> => {
      asked.push(params);
      if (answer === 'never') await new Promise(() => undefined);
      return { outcome: answer === null ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: answer } };
    })
    .connectWith(stream, async (context) => {
      await context.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
      return await work(context);
    });
}

async function updatesOf(next: () => Promise<ActiveSessionMessage>): Promise<readonly SessionUpdate[]> {
  const updates: SessionUpdate[] = [];
  for (;;) {
    const message = await next();
    if (message.kind === 'stop') return updates;
    updates.push(message.update);
  }
}
const texts = (updates: readonly SessionUpdate[], kind: string): string =>
  updates
    .map((update) =>
      'content' in update && isJsonObject(update.content) && update.sessionUpdate === kind ? update.content.text : '',
    )
    .join('');

const schemaFile = join(import.meta.dirname, '../../node_modules/@agentclientprotocol/sdk/schema/v1/schema.json');

/** What is wrong with a message by the protocol's own schema. */
function faultOf(message: JsonObject, answered: ReadonlyMap<unknown, string>): string | null {
  const { $defs } = JSON.parse(readFileSync(schemaFile, 'utf8'));
  const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  const name =
    message.method === 'session/update'
      ? 'SessionNotification'
      : message.method === 'session/request_permission'
        ? 'RequestPermissionRequest'
        : answered.get(message.id);
  if (name === undefined) return `an unknown message: ${JSON.stringify(message)}`;
  const value: JsonValue | undefined = message.method === undefined ? message.result : message.params;
  return ajv.validate({ $ref: `#/$defs/${name}`, $defs }, value) ? null : `${name}: ${ajv.errorsText()}`;
}

describe('hi acp', () => {
  it("is an agent for editors, and every message follows the protocol's schema", async () => {
    replies = [
      {
        thinking: 'Hm.',
        text: 'Let me look.',
        calls: [
          { name: 'read_file', args: { path: 'notes.txt' } },
          { name: 'list_files', args: { path: '.' } },
        ],
      },
      { pieces: ['It says ', 'milk.'] },
    ];
    home.write('notes.txt', 'Remember the milk.');
    const updates = await withClient(async (context) => {
      const session = await context.buildSession(home.work).start();
      const response = session.prompt('What do the notes say?');
      const seen = await updatesOf(() => session.nextUpdate());
      expect(await response).toMatchObject({ stopReason: 'end_turn' });
      return seen;
    });
    expect(texts(updates, 'agent_message_chunk')).toBe('Let me look.It says milk.');
    expect(texts(updates, 'agent_thought_chunk')).toBe('Hm.');
    expect(updates).toContainEqual(
      expect.objectContaining({
        sessionUpdate: 'tool_call',
        title: 'read_file notes.txt',
        kind: 'read',
        status: 'in_progress',
        locations: [{ path: join(home.work, 'notes.txt') }],
      }),
    );
    expect(updates).toContainEqual(expect.objectContaining({ sessionUpdate: 'tool_call_update', status: 'completed' }));
    expect(updates.filter(({ sessionUpdate }) => sessionUpdate === 'plan').at(-1)).toMatchObject({
      entries: [
        { content: 'read_file notes.txt', status: 'completed' },
        { content: 'list_files .', status: 'completed' },
      ],
    });
    const answered = new Map([
      [0, 'InitializeResponse'],
      [1, 'NewSessionResponse'],
      [2, 'PromptResponse'],
    ]);
    expect(lines.flatMap((line) => faultOf(line, answered) ?? [])).toEqual([]);
    const { stdout } = await runProgram(home, ['history', '--json']);
    expect(JSON.parse(stdout).at(-1)).toMatchObject({ content: [{ type: 'text', text: 'It says milk.' }] });
  });

  it('asks the editor before a change, and shows the diff', async () => {
    replies = [{ calls: [{ name: 'write_file', args: { path: 'notes.txt', content: 'one\nthree\n' } }] }];
    home.write('notes.txt', 'one\ntwo\n');
    for (const [chosen, content] of [
      ['no', 'one\ntwo\n'],
      ['once', 'one\nthree\n'],
    ] as const) {
      answer = chosen;
      replies.length = server.requests.length;
      replies.push({ calls: [{ name: 'write_file', args: { path: 'notes.txt', content: 'one\nthree\n' } }] });
      await withClient(async (context) => {
        const session = await context.buildSession(home.work).start();
        expect(await session.prompt('Count.')).toMatchObject({ stopReason: 'end_turn' });
      });
      expect(readFileSync(join(home.work, 'notes.txt'), 'utf8')).toBe(content);
    }
    expect(asked[0]).toMatchObject({
      toolCall: {
        kind: 'edit',
        content: [{ type: 'diff', path: join(home.work, 'notes.txt'), oldText: 'one\ntwo\n', newText: 'one\nthree\n' }],
      },
    });
    expect(asked[0]?.options.map(({ kind }) => kind)).toContain('reject_once');
  });

  it('stops at once when the editor cancels, and keeps the partial answer', async () => {
    replies = [{ pieces: ['Well', ', so', ' on'], hangAfter: 2 }];
    await withClient(async (context) => {
      const session = await context.buildSession(home.work).start();
      const response = session.prompt('Talk.');
      await session.nextUpdate();
      await context.notify(methods.agent.session.cancel, { sessionId: session.sessionId });
      expect(await response).toMatchObject({ stopReason: 'cancelled' });
      const again = session.prompt('Once more.');
      expect(await again).toMatchObject({ stopReason: 'end_turn' });
    });
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain('Talk.');
  });

  it('ends the turn when the editor cancels a question', async () => {
    answer = null;
    replies = [{ calls: [{ name: 'bash', args: { command: 'touch made' } }] }];
    await withClient(async (context) => {
      const session = await context.buildSession(home.work).start();
      expect(await session.prompt('Make it.')).toMatchObject({ stopReason: 'cancelled' });
    });
    expect(server.requests).toHaveLength(1);
  });

  it('cancels a prompt that waits for another session, and sends nothing of it', async () => {
    replies = [{ pieces: ['Well', ', so'], hangAfter: 1 }];
    await withClient(async (context) => {
      const one = await context.buildSession(home.work).start();
      const two = await context.buildSession(home.work).start();
      const running = one.prompt('Talk.');
      await one.nextUpdate();
      const waiting = two.prompt('Never said.');
      await context.notify(methods.agent.session.cancel, { sessionId: two.sessionId });
      expect(await waiting).toMatchObject({ stopReason: 'cancelled' });
      await context.notify(methods.agent.session.cancel, { sessionId: one.sessionId });
      expect(await running).toMatchObject({ stopReason: 'cancelled' });
      expect(await two.prompt('Go on.')).toMatchObject({ stopReason: 'end_turn' });
    });
    expect(JSON.stringify(server.requests)).not.toContain('Never said.');
  });

  it('cancels a turn while the editor owes an answer, and other sessions go on', async () => {
    answer = 'never';
    replies = [{ calls: [{ name: 'bash', args: { command: 'touch made' } }] }];
    await withClient(async (context) => {
      const one = await context.buildSession(home.work).start();
      const two = await context.buildSession(home.work).start();
      const running = one.prompt('Make it.');
      while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
      await context.notify(methods.agent.session.cancel, { sessionId: one.sessionId });
      expect(await running).toMatchObject({ stopReason: 'cancelled' });
      expect(await two.prompt('Go on.')).toMatchObject({ stopReason: 'end_turn' });
    });
    expect(existsSync(join(home.work, 'made'))).toBe(false);
  });

  it('has one conversation, whatever the session', async () => {
    await withClient(async (context) => {
      const [one, two] = [
        await context.buildSession(home.work).start(),
        await context.buildSession(home.folder).start(),
      ];
      expect(one.sessionId).not.toBe(two.sessionId);
      await Promise.all([one.prompt('From one.'), two.prompt('From two.')]);
      await one.prompt('And?');
    });
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toMatch(/From one\..*From two\./);
  });

  it('goes on with the one conversation in another process, with and without showing it', async () => {
    replies = [{ text: 'Hello.' }, { text: 'Again.' }];
    await withClient(async (context) => {
      await (await context.buildSession(home.work).start()).prompt('From before.');
    });
    lines.length = 0;
    await withClient(async (context) => {
      const given = { cwd: home.work, mcpServers: [{ name: 'theirs', command: '/bin/false', args: [], env: [] }] };
      const { sessions } = await context.request(methods.agent.session.list, { cwd: home.work });
      const sessionId = sessions[0]?.sessionId ?? '';
      expect(sessions).toEqual([expect.objectContaining({ cwd: home.work })]);
      await context.request(methods.agent.session.load, { sessionId, ...given });
      expect(lines.flatMap(({ params }) => (isJsonObject(params) ? [params.update] : []))).toMatchObject([
        { sessionUpdate: 'user_message_chunk', content: { text: 'From before.' } },
        { sessionUpdate: 'agent_message_chunk', content: { text: 'Hello.' } },
      ]);
      lines.length = 0;
      await context.request(methods.agent.session.resume, { sessionId, ...given });
      expect(JSON.stringify(lines)).not.toContain('From before.');
      await context.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text: 'And?' }] });
      expect(JSON.stringify(lines)).toContain("hi does not start MCP servers of an editor: 'theirs'.");
      const nowhere = context.request(methods.agent.session.new, { cwd: 'work', mcpServers: [] });
      await expect(nowhere).rejects.toThrow("there is no folder 'work'");
    });
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toMatch(/From before\..*And\?/);
  });

  it('shows the diff of a change that a rule allows', async () => {
    const args = { path: 'notes.txt', content: 'one\nthree\n' };
    const edit = { path: 'notes.txt', old: 'three', new: 'four' };
    replies = [
      { calls: [{ name: 'write_file', args }] },
      { calls: [{ name: 'edit_file', args: edit }] },
      { text: 'Done.' },
    ];
    home.write('notes.txt', 'one\ntwo\n');
    await withClient(async (context) => {
      await (await context.buildSession(home.work).start()).prompt('Count.');
    }, '-y');
    const diffs = lines.flatMap(({ params }) => {
      const update = isJsonObject(params) ? params.update : null;
      return isJsonObject(update) && update.sessionUpdate === 'tool_call' ? [update.content] : [];
    });
    const path = join(home.work, 'notes.txt');
    expect(diffs).toEqual([
      [{ type: 'diff', path, oldText: 'one\ntwo\n', newText: 'one\nthree\n' }],
      [{ type: 'diff', path, oldText: 'three', newText: 'four' }],
    ]);
  });

  it('accepts pictures and embedded files, and passes links on', async () => {
    const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    await withClient(async (context) => {
      const session = await context.buildSession(home.work).start();
      await session.prompt([
        { type: 'text', text: 'Compare ' },
        { type: 'resource_link', uri: 'file:///a/b.ts', name: 'b.ts' },
        { type: 'image', data, mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'file:///a/c%20d.txt', text: 'inside' } },
        { type: 'resource', resource: { uri: 'file:///a/%zz', text: 'no address' } },
      ]);
    });
    const sent = JSON.stringify(server.requests[0]?.messages.at(-1)?.content);
    expect(sent).toContain(data);
    expect(sent).toContain('Compare [b.ts](file:///a/b.ts)');
    expect(sent).toContain('/a/c d.txt');
    expect(sent).toMatch(/%zz.*no address/);
    expect(sent).toContain('inside');
  });

  it('reports errors as the protocol defines them, and goes on', async () => {
    replies = [{ status: 401, error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }];
    await withClient(async (context) => {
      const session = await context.buildSession(home.work).start();
      await expect(session.prompt('Hello.')).rejects.toMatchObject({ code: -32000, data: { code: 'key' } });
      await expect(session.prompt(' ')).rejects.toMatchObject({ message: expect.stringContaining('empty') });
      const unknown = context.request(methods.agent.session.prompt, {
        sessionId: 'nobody',
        prompt: [{ type: 'text', text: 'x' }],
      });
      await expect(unknown).rejects.toMatchObject({ code: -32602 });
      expect(await session.prompt('Hello.')).toMatchObject({ stopReason: 'end_turn' });
    });
  });

  it('exits when the editor disconnects, and on a signal', async () => {
    await withClient(async () => undefined);
    agent.stdin?.end();
    expect(await exited).toEqual([0, null]);
    const idle = spawn(RUNTIME, [PROGRAM, 'acp'], { env: home.env });
    idle.stdin.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n');
    await once(idle.stdout, 'data');
    idle.kill('SIGTERM');
    expect(await once(idle, 'exit')).toEqual([143, null]);
  });
});
