import { basename, dirname, join } from 'node:path';
import { isMessage } from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import { removeIfThere, writeAside } from '../disk.js';
import { HiError, isAbort } from '../errors.js';
import { openTurns } from '../view/view.js';
import type { HistoryPaths } from './base/history-paths.js';
import { loadCodec } from './file/codec.js';
import { conflictCopies, resolveLinks } from './file/log-file.js';
import { isClaimed } from './lock/lock.js';
import type { Log } from './log.js';
import { readLog } from './repair/open-log.js';

/** How the name of a copy goes on that holds one turn. It is a conflict copy, which forget, purge and join know. */
const MARK = ' (conflicted copy, answer ';

/** Whether a copy holds such a turn. */
export const isKeptAnswer = (path: string): boolean => path.includes(MARK);

/**
 * Keeps a turn whose last messages could not be written, as a history of its own beside the conversation. They have no
 * ids of their own yet. What a call would have brought is left out. Never throws.
 */
export function keepTurn(paths: HistoryPaths, written: readonly Message[], rest: readonly Message[]): void {
  try {
    const { history } = resolveLinks(paths);
    const name = `${basename(history, '.json.zst')}${MARK}${Date.now()}-${process.pid}).json.zst`;
    const content = JSON.stringify([...written, ...closed(rest)]);
    const options = { mode: 0o600, private: true, synced: true };
    writeAside(join(dirname(history), name), loadCodec().compress(Buffer.from(content)), options);
  } catch {
    // What kept the history from being written, such as a full disk, may keep this too.
  }
}

/** The messages, the last of which ends the turn. */
function closed(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  if (last === undefined || (last.role === 'assistant' && last.stop_reason !== 'tool_calls')) return messages;
  const { usage: _usage, ...answer } = last;
  const said = last.content.filter(({ type }) => type !== 'tool_call');
  return last.role === 'assistant'
    ? [...messages.slice(0, -1), { ...last, content: said, stop_reason: 'interrupted' }]
    : [...messages, { ...answer, role: 'assistant', content: [], stop_reason: 'interrupted' }];
}

/** A turn with a kept answer, and whether that is in the log now. */
interface KeptAnswer {
  readonly turn: number;
  readonly isAdded: boolean;
}

/**
 * Adds kept answers to their turns where these are still in the log without one, and run in no process. Whatever keeps
 * it from that, such as a process that claims the lock, the copies stay. Returns those that were found in turns.
 */
export async function addKeptAnswers(
  log: Log,
  paths: HistoryPaths,
  running: ReadonlySet<number>,
): Promise<readonly KeptAnswer[]> {
  const copies = conflictCopies(paths).filter(isKeptAnswer);
  const found: KeptAnswer[] = [];
  try {
    for (const path of copies) {
      const [question, ...rest] = [...readLog(path)].filter(isMessage);
      if (question === undefined || running.has(question.turn)) continue;
      const { turn, uid } = question;
      const isAdded = log.isKept && !isClaimed(paths.folder) && (await add(log, question, rest));
      if (isAdded) removeIfThere(path);
      if (turnOf(log, turn)[0]?.uid === uid) found.push({ turn, isAdded });
    }
  } catch (thrown) {
    if (!isAbort(thrown) && !(thrown instanceof HiError)) throw thrown;
  }
  return found;
}

/** Returns whether the turn is in the log, with an answer. */
async function add(log: Log, { turn, uid }: Message, rest: readonly Message[]): Promise<boolean> {
  let isThere = false;
  await log.write((next) => {
    const there = turnOf(log, turn);
    isThere = there[0]?.uid === uid;
    const missing = isThere && openTurns(there).length > 0 ? rest.slice(there.length - 1) : [];
    return missing.map((message, index) => ({ ...message, id: next + index }));
  });
  return isThere;
}

const turnOf = (log: Log, id: number): readonly Message[] =>
  log.loaded.filter(isMessage).filter(({ turn }) => turn === id);
