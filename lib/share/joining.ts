import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { isMessage, type Mark } from '../chat/entry.js';
import { undoneTurns } from '../chat/entry-list.js';
import { type Message, textOf, turnName } from '../chat/message.js';
import { HiError } from '../errors.js';
import { attachmentsIn, commitAttachment, readAttachment, storeAttachment } from '../history/attachments.js';
import { historyPathsIn } from '../history/base/history-paths.js';
import { decompressFrame, loadCodec } from '../history/file/codec.js';
import { Damaged, frameAt } from '../history/file/frames.js';
import { flattenEntries } from '../history/file/layout.js';
import { openDamaged } from '../history/repair/open-log.js';
import { loadSalvage } from '../history/repair/salvage-loader.js';
import { runningTurns } from '../history/turns.js';
import { batchesOf, type TurnItem } from './items.js';
import {
  type Accounted,
  type Arriving,
  account,
  arrivedMessages,
  catchUp,
  emptyAccount,
  isFinished,
  turnItem,
} from './log-reader.js';
import type { SharedHistory } from './standing.js';

/** What of a history was joined to the conversation. */
export interface Joined {
  readonly turns: number;
  readonly added: number;
}

/** Whether a file may be a history of hi, by how its content begins: other programs keep theirs in zstd too. */
export function isHistory(path: string): boolean {
  const start = startOf(path);
  return start === '[' || /^\s*\[\s*\{\s*"id":\s*\d/.test(start);
}

/** The first characters of a file, of its first frame if it is in zstd; nothing if that cannot be read. */
function startOf(path: string): string {
  const file = openSync(path, 'r');
  const read = (offset: number, length: number): Buffer => {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
  };
  try {
    const frame = frameAt(read, 0, fstatSync(file).size);
    const content = frame === null ? read(0, 64) : decompressFrame(loadCodec(), read, frame);
    return content.toString('latin1', 0, 64);
  } catch (thrown) {
    if (thrown instanceof Damaged) return '';
    throw thrown;
  } finally {
    closeSync(file);
  }
}

/**
 * Appends the whole turns of another history that are missing, a backup or a copy of this conversation; what was
 * forgotten stays away. However often, and in whatever order, histories are joined, the same turns are there. One
 * without a turn of this conversation needs `isTheirs`: all of it counts as foreign then. Changes nothing with `isDry`.
 * Throws a `HiError`.
 */
export async function joinHistory(
  history: SharedHistory,
  data: string,
  path: string,
  { isTheirs, isDry }: { readonly isTheirs: boolean; readonly isDry: boolean },
): Promise<Joined> {
  const { turns, undone } = await turnsIn(path);
  // Histories that were joined by other means may have a turn twice.
  const items = [...new Map(turns.map(turnItem).map((item) => [item.turn, item])).values()];
  const names = new Map(turns.flatMap((turn) => turn.map((message) => [keyOf(message), turnName(turn[0])])));
  let accounted = emptyAccount();
  await history.readAll((entries) => {
    accounted = emptyAccount();
    for (const entry of entries) {
      account(accounted, entry);
      // `hi forget` may have taken the beginning of a turn, and its name, on one side: its other messages are there.
      if (!isMessage(entry) || entry.content.length === 0) continue;
      const name = names.get(keyOf(entry));
      if (name !== undefined && !accounted.known.has(name)) accounted.known.add(name, entry.turn);
    }
  });
  const isOwn = accounted.last.id === 0 || items.some(({ turn }) => accounted.known.has(turn));
  if (!isOwn && !isTheirs)
    throw new HiError('usage', `'${basename(path)}' has no turn of this conversation.`, {
      hint: "If it is another person's, or another conversation, add it with --theirs: all of it counts as foreign.",
    });
  const arriving = arrivingIn(data, accounted);
  const missing = items.filter((item) => arrivedMessages(item, accounted, 1, arriving, null).length > 0);
  if (isDry) return { turns: items.length, added: missing.length };
  const from = join(dirname(path), 'attachments');
  let added = 0;
  for (const batch of batchesOf(missing))
    added += await append(history, data, from, batch, accounted, isTheirs && !isOwn);
  const taken = missing.filter(({ turn }) => undone.has(turn)).flatMap(({ turn }) => accounted.known.idOf(turn) ?? []);
  const at = history.now().toISOString();
  if (taken.length > 0) await history.takeIn((id): readonly Mark[] => [{ id, at, type: 'undo', turns: taken }]);
  return { turns: items.length, added };
}

async function append(
  history: SharedHistory,
  data: string,
  from: string,
  items: readonly TurnItem[],
  accounted: Accounted,
  isForeign: boolean,
): Promise<number> {
  const [there, here] = [{ ...historyPathsIn(dirname(from)), attachments: from }, historyPathsIn(data)];
  let names = 0;
  const written = await history.takeIn((next) => {
    catchUp(accounted, history.loaded);
    names = 0;
    const arriving = arrivingIn(data, accounted);
    const messages: Message[] = [];
    for (const item of items) {
      const arrived = arrivedMessages(item, accounted, next + messages.length, arriving, null);
      for (const message of arrived) messages.push(isForeign ? { ...message, rests_on: 'foreign' } : message);
      if (arrived.length > 0) names += 1;
    }
    return messages;
  });
  for (const message of written) account(accounted, message);
  for (const { sha256 } of written.flatMap(attachmentsIn)) {
    const bytes = readAttachment(here, sha256) === null ? readAttachment(there, sha256) : null;
    if (bytes === null) continue;
    storeAttachment(here, bytes);
    commitAttachment(here, sha256);
  }
  return names;
}

function arrivingIn(data: string, { forgotten }: Accounted): Arriving {
  const barred = new Set([...forgotten.values()].flatMap(({ messages }) => messages.map(String)));
  return {
    from: null,
    isBarred: (name) => barred.has(String(name)),
    isRunning: (turn) => runningTurns(data).has(turn),
  };
}

const keyOf = ({ at, role, content }: Message): string => `${at} ${role} ${textOf(content)}`;

/** The finished turns in a history, and the names of those that were undone. */
async function turnsIn(
  path: string,
): Promise<{ readonly turns: readonly [Message, ...Message[]][]; readonly undone: ReadonlySet<string> }> {
  await loadSalvage();
  const { file } = openDamaged(loadCodec(), path);
  try {
    const turns = new Map<number, [Message, ...Message[]]>();
    const marks: Mark[] = [];
    for (const entry of flattenEntries(file.all())) {
      if (isMessage(entry)) {
        const turn = turns.get(entry.turn);
        if (turn === undefined) turns.set(entry.turn, [entry]);
        else turn.push(entry);
      } else if (entry.type === 'undo' || entry.type === 'redo') marks.push(entry);
    }
    const undone = undoneTurns(marks);
    const whole = [...turns.values()].filter((messages) => isFinished(messages));
    return {
      turns: whole,
      undone: new Set(whole.flatMap(([first]) => (undone.has(first.turn) ? [turnName(first)] : []))),
    };
  } finally {
    file.close();
  }
}
