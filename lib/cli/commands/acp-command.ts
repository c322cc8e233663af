import { addAbortSignal, Readable, Writable } from 'node:stream';
import { agent, methods, ndJsonStream, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import { asHiError, EXIT_STATUS, HiError } from '../../errors.js';
import { EditorSession } from '../acp/editor-session.js';
import { VERSION } from '../base/version.js';
import type { World } from '../base/world.js';
import type { SessionOptions } from '../wiring/session-options.js';

/** Speaks the Agent Client Protocol on stdin and stdout, until stdin ends. Resolves to the exit status. */
export async function acpCommand(world: World, options: SessionOptions): Promise<number> {
  const sessions = new Map<string, EditorSession>();
  const stopped = new AbortController();
  let signalled: NodeJS.Signals | null = null;
  const release = world.onStop((signal) => {
    signalled ??= signal;
    stopped.abort();
  });
  // One conversation has one turn at a time.
  let turns: Promise<unknown> = Promise.resolve();
  const connection = agent({ name: 'hi' })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'hi', title: 'hi', version: VERSION },
      agentCapabilities: {
        loadSession: false,
        promptCapabilities: { image: true, audio: true, embeddedContext: true },
      },
      authMethods: [],
    }))
    .onRequest(methods.agent.session.new, async ({ params: { cwd } }) => {
      const sessionId = `hi-${process.pid}-${sessions.size + 1}`;
      sessions.set(sessionId, await reporting(() => EditorSession.open(sessionId, inFolder(world, cwd), options)));
      return { sessionId };
    })
    .onRequest(methods.agent.session.prompt, async ({ params, client, signal }) => {
      const session = sessions.get(params.sessionId);
      if (session === undefined) throw RequestError.invalidParams({ sessionId: params.sessionId }, 'no such session');
      const turn = turns.then(() => reporting(() => session.prompt(params, client, signal)));
      turns = turn.catch(() => undefined);
      return await turn;
    })
    .onNotification(methods.agent.session.cancel, ({ params }) => sessions.get(params.sessionId)?.cancel())
    .connect(ndJsonStream(Writable.toWeb(process.stdout), webInput(world, stopped.signal)));
  stopped.signal.addEventListener('abort', () => connection.close());
  try {
    await connection.closed;
  } finally {
    release();
    stopped.abort();
    for (const session of sessions.values()) session.cancel();
    await turns;
    for (const session of sessions.values()) await session.close();
  }
  if (signalled === null) return 0;
  return signalled === 'SIGINT' ? EXIT_STATUS.interrupted : EXIT_STATUS.terminated;
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
