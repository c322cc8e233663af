import type { ChatEvent } from '../../chat/event.js';
import { localTime, quantity } from '../../chat/text.js';
import { HiError, isAbort } from '../../errors.js';
import type { Screen } from '../../screen/screen.js';
import type { QuestionQueue, QueuedQuestion } from '../../servers/question-queue.js';
import type { UserInput } from '../../session/common/deps.js';
import type { Session } from '../../session/session.js';
import type { World } from '../base/world.js';

/** The question in one line, with the time at which it was asked. */
export function queuedLine({ at, question, isUnclear }: QueuedQuestion): string {
  const line = question.text.replace(/\s+/g, ' ').trim();
  const shown = line.length > 80 ? `${line.slice(0, 79)}…` : line;
  const more = question.texts.length + question.attachments.length;
  const files = more === 0 ? '' : ` (${quantity(more, 'file')})`;
  return `${localTime(at.toISOString())}  ${shown}${files}${isUnclear ? '  (may have been sent: see /history)' : ''}`;
}

/**
 * Sends one question of the queue. It stays there if nothing came of it; nothing is sent while another process sends
 * one. Throws like a turn.
 */
export async function* sendQueued(
  queued: QueuedQuestion,
  queue: QuestionQueue,
  session: Session,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  if (queued.isUnclear) return;
  if (queue.isBusy) yield { type: 'notice', level: 'info', text: 'Another hi is asking the questions that wait.' };
  if (!queue.take(queued.id)) return;
  let isSent = false;
  try {
    yield { type: 'notice', level: 'info', text: `Asked ${queuedLine(queued)}` };
    let isUndelivered = false;
    const undelivered = (): null => {
      isUndelivered = true;
      return null;
    };
    try {
      yield* session.send(queued.question, signal, { undelivered, attempts: 1 });
    } finally {
      isSent = !isUndelivered;
    }
  } finally {
    if (isSent) queue.remove(queued.id);
    else queue.putBack(queued.id);
  }
}

/** Sends all questions of the queue, one after the other. */
export async function* sendAll(queue: QuestionQueue, session: Session, signal: AbortSignal): AsyncGenerator<ChatEvent> {
  for (const queued of queue.list()) {
    const isBusy = queue.isBusy;
    yield* sendQueued(queued, queue, session, signal);
    if (signal.aborted || isBusy) return;
  }
}

/**
 * Keeps a question if no server could be reached. Returns what to tell the user; null if the failure is another one.
 */
export function keepForLater(queue: QuestionQueue, question: UserInput, failure: unknown, now: Date): string | null {
  if (!(failure instanceof HiError) || failure.code !== 'network') return null;
  queue.add(question, now);
  return `${failure.message} Your question is kept: it is asked at the next start, or by /queue send.`;
}

/** Asks what waits since an earlier start, before the first prompt. */
export async function askWaiting(
  world: Pick<World, 'onStop'>,
  screen: Screen,
  queue: QuestionQueue,
  session: Session,
): Promise<void> {
  if (queue.isEmpty) return;
  const stop = new AbortController();
  const release = world.onStop(() => stop.abort());
  try {
    await screen.follow(sendAll(queue, session, stop.signal));
  } catch (thrown) {
    if (isAbort(thrown)) return;
    if (!(thrown instanceof HiError)) throw thrown;
    screen.notice(`Still no answer: ${thrown.message} /queue lists what waits.`, 'warning');
  } finally {
    release();
  }
}
