import { join } from 'node:path';
import { type Entry, isMessage, type Mark } from '../chat/entry.js';
import { type Message, turnName } from '../chat/message.js';
import type { ForgetOrder } from '../chat/occurrence.js';
import { fileNamesIn, makeFolder, readRegularFile } from '../disk.js';
import { HiError } from '../errors.js';
import { attachmentsIn, collectGarbage, removeUnusedFolder } from './attachments.js';
import type { HistoryPaths } from './base/history-paths.js';
import { withHistoryErrors } from './base/notices.js';
import { type Forgettable, forgetInCopies, surveyCopies } from './forget/copies.js';
import { criteriaForCopy, criteriaOf, occurrenceInBytes, Survey } from './forget/survey.js';
import { runExclusive } from './lock/exclusive.js';
import { assertLockHeld, heartbeat } from './lock/holder.js';
import { FORGETTING, type Log } from './log.js';
import { runningTurns } from './turns.js';

/** Finds the messages to forget and their copies, without changing anything. Throws a `HiError`. */
export async function findForgettable(log: Log, paths: HistoryPaths, order: ForgetOrder): Promise<Forgettable> {
  return await withHistoryErrors(paths.history, async () => {
    const marked = attachmentsWith(paths.attachments, order);
    let found: Forgettable | null = null;
    await log.rewrite((entries) => {
      found = surveyAll(paths, order, marked, entries).found;
      return null;
    });
    if (found === null) throw new Error('The history was not read.');
    return found;
  });
}

/**
 * Forgets them: first in other places, then in the copies, last in the conversation. After a kill before the last
 * rename, the messages are still there to find the rest. After a later kill only unreferenced attachments are left,
 * which the next run removes. Waits for undisturbed work. Throws a `HiError`.
 */
export async function forget(
  log: Log,
  paths: HistoryPaths,
  order: ForgetOrder,
  forgetElsewhere: (found: Forgettable) => void,
  named: (ForgottenName & { readonly at: string }) | null,
): Promise<void> {
  const work = async (): Promise<void> => {
    const marked = attachmentsWith(paths.attachments, order);
    let mark: ForgottenMark | null = null;
    await log.rewrite(
      (entries) => {
        const { survey, found } = surveyAll(paths, order, marked, entries);
        requireEnded(paths, found.messages);
        assertLockHeld();
        forgetElsewhere(found);
        forgetInCopies(paths, criteriaForCopy(order, marked, found.messages));
        mark = named && new ForgottenMark(entries, survey, named);
        const isAlone = survey.isEmpty && (named === null || named.turns.length + named.messages.length === 0);
        return isAlone ? null : (entry) => mark?.change(entry, survey.change(entry)) ?? survey.change(entry);
      },
      (next) => (mark === null ? [] : [mark.at(next)]),
    );
    await log.withAllLogs((logs) => collectGarbage(paths, logs));
    removeUnusedFolder(paths);
  };
  await withHistoryErrors(paths.history, async () => {
    makeFolder(paths.folder, 0o700);
    await runExclusive(paths.folder, FORGETTING, work);
  });
}

/**
 * What the mark of a forgotten part is to say: its own name, and what was forgotten on another machine, which need not
 * be here.
 */
export interface ForgottenName {
  readonly uid: string;
  readonly turns: readonly string[];
  readonly messages: readonly (readonly [turn: string, at: string, role: string])[];
}

/** The mark of what is removed. A turn of which something stays keeps its name. */
class ForgottenMark {
  readonly #named: ForgottenName & { readonly at: string };
  readonly #turns: string[];
  readonly #messages: (readonly [turn: string, at: string, role: string])[];
  /** The names that the first remaining messages of turns must have from now on. */
  readonly #renamed = new Map<number, string>();

  constructor(entries: Iterable<Entry>, survey: Survey, named: ForgottenName & { readonly at: string }) {
    this.#named = named;
    this.#turns = [...named.turns];
    this.#messages = [...named.messages];
    const affected = new Set(survey.messages.map(({ turn }) => turn));
    const found = new Map<number, { readonly name: string; readonly gone: Message[]; kept: Message | null }>();
    for (const entry of affected.size === 0 ? [] : entries) {
      if (!isMessage(entry) || !affected.has(entry.turn)) continue;
      const turn = found.get(entry.turn) ?? { name: turnName(entry), gone: [], kept: null };
      found.set(entry.turn, turn);
      if (survey.isRemoved(entry)) turn.gone.push(entry);
      else turn.kept ??= entry;
    }
    for (const { name, gone, kept } of found.values()) {
      if (kept === null) this.#turns.push(name);
      else {
        for (const { at, role } of gone) this.#messages.push([name, at, role]);
        this.#renamed.set(kept.id, name);
      }
    }
  }

  change(entry: Entry, changed: Entry | null): Entry | null {
    const name = this.#renamed.get(entry.id);
    return name === undefined || changed === null || !isMessage(changed) ? changed : { ...changed, uid: name };
  }

  at(id: number): Mark {
    const { uid, at } = this.#named;
    const forgotten_turns = [...new Set(this.#turns)];
    const forgotten_messages = [...new Map(this.#messages.map((name) => [String(name), name])).values()];
    return { id, at, type: 'forgotten', uid, forgotten_turns, forgotten_messages };
  }
}

function surveyAll(
  paths: HistoryPaths,
  order: ForgetOrder,
  marked: ReadonlySet<string>,
  entries: Iterable<Entry>,
): { readonly survey: Survey; readonly found: Forgettable } {
  const survey = new Survey(entries, criteriaOf(order, marked));
  const { messages, summaries, others, shortened } = survey;
  const copies = surveyCopies(paths, criteriaForCopy(order, marked, messages));
  const named = messages.flatMap(attachmentsIn).map(({ sha256 }) => sha256);
  const attachments = new Set([...marked, ...named]).size;
  return { survey, found: { messages, summaries, others, shortened, copies, attachments } };
}

/** Throws for a running turn, because its process would write it again. */
function requireEnded({ folder }: HistoryPaths, messages: readonly Message[]): void {
  const running = runningTurns(folder);
  const [turn] = messages.map((message) => message.turn).filter((id) => running.has(id));
  if (turn === undefined) return;
  throw new HiError('history', `The turn #${turn} contains some of it and is still running.`, {
    hint: 'Wait for the answer, or stop it, and try again.',
  });
}

/** The hashes of the attachments in this folder that contain the text. */
export function attachmentsWith(folder: string, order: ForgetOrder): ReadonlySet<string> {
  if (order.kind !== 'text') return new Set();
  const holds = occurrenceInBytes(order.text);
  const found = new Set<string>();
  for (const name of fileNamesIn(folder)) {
    heartbeat();
    const [, hash] = /^([0-9a-f]{64})(?:\.|$)/.exec(name) ?? [];
    if (hash !== undefined && holds(readRegularFile(join(folder, name)))) found.add(hash);
  }
  return found;
}
