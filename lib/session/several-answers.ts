import type { ChatEventOf } from '../chat/event.js';
import type { NewMessage } from '../chat/message.js';
import { HiError, isAbort } from '../errors.js';
import { uninterrupted } from '../waits.js';
import type { SessionDeps, SessionModels, Target } from './common/deps.js';
import type { SessionTurns } from './session-turns.js';

/** The answer of one of several models to one question, or why there is none. */
export interface Reply {
  /** As the model was named. */
  readonly name: string;
  readonly target: Target | null;
  readonly report: ChatEventOf<'turn-end'> | null;
  readonly failure: HiError | null;
}

/** What asks one model without keeping anything. */
type Asking = (target: Target) => Pick<SessionTurns, 'unkept'>;

/**
 * Asks several models at once, with the conversation, and without tools. Yields each answer as soon as it is whole;
 * keeps nothing.
 */
export async function* askSeveral(
  names: readonly string[],
  text: string,
  find: SessionModels['find'],
  asking: Asking,
  signal: AbortSignal,
): AsyncGenerator<Reply> {
  const running = new Map(names.map((name) => [name, replyOf(name, text, find, asking, signal)]));
  while (running.size > 0) {
    const reply = await Promise.race(running.values());
    running.delete(reply.name);
    signal.throwIfAborted();
    yield reply;
  }
}

async function replyOf(
  name: string,
  text: string,
  find: SessionModels['find'],
  asking: Asking,
  signal: AbortSignal,
): Promise<Reply> {
  let target: Target | null = null;
  try {
    target = await find(name, signal);
    for await (const event of asking(target).unkept(text, [], signal))
      if (event.type === 'turn-end') return { name, target, report: event, failure: null };
    throw new HiError('malformed', 'The model did not answer.');
  } catch (thrown) {
    if (isAbort(thrown)) signal.throwIfAborted();
    if (!(thrown instanceof HiError)) throw thrown;
    return { name, target, report: null, failure: thrown };
  }
}

/**
 * Puts the question with the answer that is kept into the conversation, and with each of the others into the archive,
 * out of view.
 */
export async function keepReplies(
  text: string,
  kept: Reply,
  others: readonly Reply[],
  deps: Pick<SessionDeps, 'history' | 'cwd'>,
): Promise<void> {
  for (const reply of [...others, kept]) await uninterrupted(() => keepReply(text, reply, reply === kept, deps));
}

async function keepReply(
  text: string,
  reply: Reply,
  isKept: boolean,
  { history, cwd }: Pick<SessionDeps, 'history' | 'cwd'>,
): Promise<void> {
  const { target, report } = reply;
  if (target === null || report === null) return;
  const question: NewMessage = { role: 'user', content: [{ type: 'text', text }], cwd: cwd() };
  const { turn } = await history.begin(question);
  await history.append(turn, [messageOf(target, report, cwd())]);
  if (!isKept) await history.undo(turn);
}

function messageOf(target: Target, report: ChatEventOf<'turn-end'>, cwd: string): NewMessage {
  const { text, usage, stop_reason, sources } = report;
  return {
    role: 'assistant',
    content: [{ type: 'text', text }],
    cwd,
    provider: target.provider,
    model: target.model,
    ...(target.api_base !== undefined && { api_base: target.api_base }),
    ...(target.server !== undefined && { server: target.server }),
    usage,
    stop_reason,
    ...(sources.length > 0 && { sources }),
  };
}
