import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { addAbortSignal, Readable, Writable } from 'node:stream';
import {
  type AgentContext,
  agent,
  type ContentBlock,
  methods,
  ndJsonStream,
  type PermissionOption,
  PROTOCOL_VERSION,
  type PromptRequest,
  type PromptResponse,
  RequestError,
} from '@agentclientprotocol/sdk';
import { fileBlock } from '../../chat/marked-text.js';
import { textOf, typedText } from '../../chat/message.js';
import { asHiError, EXIT_STATUS, HiError, isAbort } from '../../errors.js';
import type { Attachment, UserInput } from '../../session/common/deps.js';
import { inputFrom } from '../../session/input.js';
import type { Approval, Approve } from '../../tools/common/tool.js';
import type { SessionOptions } from '../base/options.js';
import { VERSION } from '../base/version.js';
import type { World } from '../base/world.js';
import { openSession, type WiredSession } from '../wiring/wire.js';
import { previewContent, stopReasonOf, TurnUpdates, toolKindOf } from './acp-updates.js';

/** Speaks the Agent Client Protocol on stdin and stdout, until stdin ends. Resolves to the exit status. */
export async function acpCommand(world: World, options: SessionOptions): Promise<number> {
  const stopped = new AbortController();
  let signalled: NodeJS.Signals | null = null;
  const release = world.onStop((signal) => {
    signalled ??= signal;
    stopped.abort();
  });
  const sessions = new EditorSessions(world, options);
  const connection = agentOf(sessions, world.cwd).connect(
    ndJsonStream(Writable.toWeb(process.stdout), webInput(world, stopped.signal)),
  );
  stopped.signal.addEventListener('abort', () => connection.close());
  try {
    await connection.closed;
  } finally {
    release();
    stopped.abort();
    await sessions.close();
  }
  if (signalled === null) return 0;
  return signalled === 'SIGINT' ? EXIT_STATUS.interrupted : EXIT_STATUS.terminated;
}

/** What is answered to each method of the protocol. */
const agentOf = (sessions: EditorSessions, cwd: string): ReturnType<typeof agent> =>
  agent({ name: 'hi' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'hi', title: 'hi', version: VERSION },
      agentCapabilities: {
        loadSession: true,
        sessionCapabilities: { list: {}, resume: {} },
        promptCapabilities: { image: true, audio: true, embeddedContext: true },
      },
      authMethods: [],
    }))
    .onRequest(methods.agent.session.new, async ({ params }) => ({ sessionId: await sessions.create(params) }))
    // Every session is the one conversation, also those of other days.
    .onRequest(methods.agent.session.list, ({ params }) => ({
      sessions: [{ sessionId: CONVERSATION, cwd: params.cwd ?? cwd, title: 'The conversation' }],
    }))
    .onRequest(methods.agent.session.load, async ({ params, client }) => {
      const session = await sessions.open(params.sessionId, params);
      await session.replay(client);
      return {};
    })
    .onRequest(methods.agent.session.resume, async ({ params }) => {
      await sessions.open(params.sessionId, params);
      return {};
    })
    .onRequest(methods.agent.session.prompt, async ({ params, client, signal }) => {
      return await sessions.prompt(params, client, signal);
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions.cancel(params.sessionId));

/** The name of the session that an editor is offered to go on with. */
const CONVERSATION = 'conversation';

/** What an editor says of a session: its folder, and the servers that the editor would like to be started. */
interface GivenSession {
  readonly cwd: string;
  readonly mcpServers?: readonly { readonly name: string }[];
}

/** The world in an editor's folder. Its getters are read when needed. */
function inFolder(world: World, cwd: string): World {
  return Object.create(world, { cwd: { value: cwd } });
}

/** What is read until `signal` aborts: a reader that waits would keep the process alive. */
function webInput({ stdin }: World, signal: AbortSignal): ReadableStream<Uint8Array> {
  return Readable.toWeb(Readable.from(addAbortSignal(signal, stdin))) as ReadableStream<Uint8Array>;
}

/** Turns a `HiError` into an error of the protocol. */
async function reporting<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    const { code, message, hint } = thrown instanceof HiError ? thrown : asHiError(thrown);
    const words = hint === null ? message : `${message} ${hint}`;
    throw new RequestError(code === 'key' ? AUTH_REQUIRED : INTERNAL, words, { code, message, hint });
  }
}

const AUTH_REQUIRED = -32000;
const INTERNAL = -32603;

/** The sessions of an editor. They share the one conversation, which has one turn at a time. */
class EditorSessions {
  readonly #world: World;
  readonly #options: SessionOptions;
  readonly #open = new Map<string, EditorSession>();
  /** Settles when all turns so far have ended. */
  #turns: Promise<unknown> = Promise.resolve();

  constructor(world: World, options: SessionOptions) {
    this.#world = world;
    this.#options = options;
  }

  /** Opens a session with a new name, and resolves to that. */
  async create(given: GivenSession): Promise<string> {
    const id = `hi-${process.pid}-${this.#open.size + 1}`;
    await this.open(id, given);
    return id;
  }

  /** Opens a session, in place of one with that name. */
  async open(id: string, { cwd, mcpServers = [] }: GivenSession): Promise<EditorSession> {
    if (!isAbsolute(cwd) || !statSync(cwd, { throwIfNoEntry: false })?.isDirectory())
      throw RequestError.invalidParams({ cwd }, `there is no folder '${cwd}'`);
    const names = mcpServers.map(({ name }) => name);
    const session = await reporting(() => EditorSession.open(id, inFolder(this.#world, cwd), this.#options, names));
    await this.#open.get(id)?.close();
    this.#open.set(id, session);
    return session;
  }

  /** Runs a turn after those before it. */
  async prompt(params: PromptRequest, client: AgentContext, signal: AbortSignal): Promise<PromptResponse> {
    const session = this.#open.get(params.sessionId);
    if (session === undefined) throw RequestError.invalidParams({ sessionId: params.sessionId }, 'no such session');
    const stop = session.expect();
    const before = this.#turns;
    const turn = untilAborted(before, stop).then(() => reporting(() => session.prompt(params, client, signal, stop)));
    this.#turns = Promise.allSettled([before, turn]);
    return await turn;
  }

  cancel(id: string): void {
    this.#open.get(id)?.cancel();
  }

  async close(): Promise<void> {
    for (const session of this.#open.values()) session.cancel();
    await this.#turns;
    for (const session of this.#open.values()) await session.close();
  }
}

/** One editor session: its folder and its turns. */
class EditorSession {
  readonly id: string;
  readonly #cwd: string;
  readonly #wired: WiredSession;
  /** What stops each prompt that runs or waits. */
  readonly #stops = new Set<AbortController>();
  #updates: TurnUpdates;
  #client: AgentContext | null = null;
  /** The servers of the editor that it was not told about yet. */
  #unstarted: readonly string[];

  private constructor(id: string, cwd: string, wired: WiredSession, unstarted: readonly string[]) {
    this.#unstarted = unstarted;
    this.id = id;
    this.#cwd = cwd;
    this.#wired = wired;
    this.#updates = new TurnUpdates(cwd);
  }

  /** `unstarted`: the names of the editor's own servers. */
  static async open(
    id: string,
    world: World,
    options: SessionOptions,
    unstarted: readonly string[],
  ): Promise<EditorSession> {
    const asked: { by: EditorSession | null } = { by: null };
    const approve: Approve = async (question, signal) =>
      asked.by === null ? { answer: 'no' } : await asked.by.#approve(question, signal);
    const wired = await openSession(world, { ...options, ask: { approve } });
    const session = new EditorSession(id, world.cwd, wired, unstarted);
    asked.by = session;
    return session;
  }

  /** Shows the editor what is in view. */
  async replay(client: AgentContext): Promise<void> {
    for (const { role, content } of this.#wired.session.history.view(null).messages) {
      const text = role === 'user' ? typedText(content) : role === 'assistant' ? textOf(content) : '';
      if (text === '') continue;
      const sessionUpdate = role === 'user' ? 'user_message_chunk' : 'agent_message_chunk';
      const update = { sessionUpdate, content: { type: 'text' as const, text } } as const;
      await client.notify(methods.client.session.update, { sessionId: this.id, update });
    }
  }

  /** Says once which servers of the editor are not started: what runs for the model is configured in hi. */
  async #tellOfServers(client: AgentContext): Promise<void> {
    if (this.#unstarted.length === 0) return;
    const names = this.#unstarted.map((name) => `'${name}'`).join(', ');
    const text = `hi does not start MCP servers of an editor: ${names}. To use them here, run: hi mcp add\n`;
    this.#unstarted = [];
    const update = { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } } as const;
    await client.notify(methods.client.session.update, { sessionId: this.id, update });
  }

  /** Announces a prompt. Returns what stops it, also while it waits for others. */
  expect(): AbortController {
    const stop = new AbortController();
    this.#stops.add(stop);
    return stop;
  }

  /** Runs one turn that `expect` announced, unless it was stopped. Resolves when it ends; throws `HiError`s. */
  async prompt(
    { prompt }: PromptRequest,
    client: AgentContext,
    signal: AbortSignal,
    stop: AbortController,
  ): Promise<PromptResponse> {
    const both = AbortSignal.any([stop.signal, signal]);
    try {
      if (both.aborted) return { stopReason: 'cancelled' };
      this.#client = client;
      this.#updates = new TurnUpdates(this.#cwd);
      await this.#tellOfServers(client);
      for await (const event of this.#wired.session.send(promptInput(prompt), both)) {
        for (const update of await this.#updates.of(event))
          await client.notify(methods.client.session.update, { sessionId: this.id, update });
        if (event.type === 'turn-end') return { stopReason: stopReasonOf(event) };
      }
      return { stopReason: 'end_turn' };
    } catch (thrown) {
      if (isAbort(thrown) || both.aborted) return { stopReason: 'cancelled' };
      throw thrown;
    } finally {
      this.#stops.delete(stop);
    }
  }

  /** Ends the running turn, and those that wait. */
  cancel(): void {
    for (const stop of this.#stops) stop.abort();
  }

  async close(): Promise<void> {
    this.cancel();
    await this.#wired.close();
  }

  async #approve(question: Parameters<Approve>[0], signal: AbortSignal): Promise<Approval> {
    const { call, preview, reason, rule } = question;
    const client = this.#client;
    if (client === null) return { answer: 'no' };
    const sessionId = this.id;
    const content = await previewContent(preview, this.#cwd);
    const update = this.#updates.announced(call, 'pending', content);
    await client.notify(methods.client.session.update, { sessionId, update });
    const asking = client.request(
      methods.client.session.requestPermission,
      {
        sessionId,
        toolCall: {
          toolCallId: call.call_id,
          kind: toolKindOf(call.name),
          status: 'pending',
          title: `${call.name}: ${reason}`,
          content: [...content],
          rawInput: call.args,
        },
        options: optionsFor(rule),
      },
      { cancellationSignal: signal },
    );
    // An editor that was told to stop may never answer.
    const answered = await Promise.race([asking, whenAborted(signal)]);
    if (answered === null) {
      asking.catch(() => undefined);
      return { answer: 'no' };
    }
    const { outcome } = answered;
    if (outcome.outcome === 'cancelled') {
      this.cancel();
      return { answer: 'no' };
    }
    if (outcome.optionId === 'always' && rule !== null) return { answer: 'always' };
    return { answer: outcome.optionId === 'once' ? 'once' : 'no' };
  }
}

/** Resolves to null when the signal aborts. */
async function whenAborted(signal: AbortSignal): Promise<null> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return null;
}

/** Waits for the turns before one, unless that is stopped meanwhile. */
async function untilAborted(before: Promise<unknown>, { signal }: AbortController): Promise<void> {
  await Promise.race([before, whenAborted(signal)]);
}

function optionsFor(rule: string | null): PermissionOption[] {
  return [
    { optionId: 'once', kind: 'allow_once', name: 'Allow once' },
    ...(rule === null ? [] : [{ optionId: 'always', kind: 'allow_always' as const, name: `Always allow ${rule}` }]),
    { optionId: 'no', kind: 'reject_once', name: 'Refuse' },
  ];
}

/**
 * Converts an editor's prompt: text, embedded files, and links unchanged. Throws a `HiError` of code `usage` for
 * content that cannot be sent.
 */
function promptInput(blocks: readonly ContentBlock[]): UserInput {
  const words: string[] = [];
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  for (const block of blocks) {
    switch (block.type) {
      case 'text':
        words.push(block.text);
        break;
      case 'resource_link':
        words.push(`[${block.title ?? block.name}](${block.uri})`);
        break;
      case 'resource':
        if ('text' in block.resource) texts.push(fileBlock(nameOf(block.resource.uri), block.resource.text));
        else take(block.resource.blob, nameOf(block.resource.uri));
        break;
      case 'image':
        take(block.data, block.uri ? nameOf(block.uri) : 'image');
        break;
      default:
        take(block.data, 'audio');
    }
  }
  function take(data: string, name: string): void {
    const input = inputFrom(Buffer.from(data, 'base64'), name);
    if ('attachment' in input) attachments.push(input.attachment);
    else texts.push(fileBlock(name, input.text));
  }
  const text = words.join('').trim();
  if (text === '' && texts.length === 0 && attachments.length === 0)
    throw new HiError('usage', 'The prompt is empty.', { hint: 'Send some text.' });
  return { text, texts, attachments };
}

/** The path of a file, the address of anything else. */
function nameOf(uri: string): string {
  if (!uri.startsWith('file://') || !URL.canParse(uri)) return uri;
  const { pathname } = new URL(uri);
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}
