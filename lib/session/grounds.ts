import { citedIn, citing, citingOnly, statementsOf } from '../chat/text/citations.js';
import { undoneIds } from '../chat/undone.js';
import type { HistoryStore } from '../history/store.js';
import type { Recall } from '../recall/recall.js';
import type { Said } from '../recall/search.js';
import { words } from '../recall/words/words.js';
import { stateOf } from '../view/block-state.js';

/** A message that a statement rests on. */
export interface Ground extends Said {
  readonly isUndone: boolean;
}

/** What the summary states, and what that rests on. */
export interface Grounds {
  readonly statement: string;
  /** False where it names no message that there is: then these are the messages of the summarised part that fit it best. */
  readonly isNamed: boolean;
  readonly messages: readonly Ground[];
  /** The ids that it names of messages that are not in the history any more. */
  readonly missing: readonly number[];
}

/** So many messages are given for a statement that names none, chosen from so many. */
const FITTING = 3;
const SEARCHED = 20;

/** What of the summary in effect has a text, all its words, or the id `#12`, in the order in which it stands there; null where there is no summary. */
export function statementsWith(history: HistoryStore, text: string): readonly string[] | null {
  const { block } = history.view(null);
  if (block === null || block.content === '') return null;
  const { prose, facts } = stateOf(block);
  const onRecord = facts.map(({ kind, text, ids }) => citing(`- ${kind}: ${text}`, ids));
  const statements = [...statementsOf(block.content.slice(0, prose)), ...onRecord];
  const [, id] = /^#(\d{1,15})$/.exec(text) ?? [];
  if (id !== undefined) return statements.filter((statement) => citedIn(statement).includes(Number(id)));
  const whole = statements.filter((statement) => normal(statement).includes(normal(text)));
  return whole.length > 0 ? whole : statements.filter(hasAll(words(text)));
}

/** The messages that a statement of the summary names, or else those that fit it best. */
export async function groundsOf(
  statement: string,
  history: HistoryStore,
  finder: Recall,
  signal: AbortSignal,
): Promise<Grounds> {
  const undone = undoneIds(history.entries);
  const messages: Ground[] = [];
  const missing: number[] = [];
  for (const id of citedIn(statement)) {
    const found = (await finder.around(id, 0, 0)).find(({ message }) => message.id === id);
    if (found === undefined || found.message.content.length === 0) missing.push(id);
    else messages.push({ ...found, isUndone: undone.has(id) });
  }
  if (messages.length > 0) return { statement, isNamed: true, messages, missing };
  return { statement, isNamed: false, messages: await fitting(statement, history, finder, signal), missing };
}

async function fitting(
  statement: string,
  history: HistoryStore,
  finder: Recall,
  signal: AbortSignal,
): Promise<readonly Ground[]> {
  const sent = new Set(history.view(null).messages.map(({ id }) => id));
  const query = plain(statement);
  const wanted = new Set(words(query));
  const { hits } = await finder.search({ query, who: null, from: null, until: null, count: SEARCHED }, signal);
  // What only stands beside a message that fits is found too.
  const fits = (text: string): boolean => words(text).some((word) => wanted.has(word));
  const out = hits.filter(({ message, text }) => !sent.has(message.id) && fits(text));
  return out.slice(0, FITTING).map(({ message, origin }) => ({ message, origin, isUndone: false }));
}

/** The words of a statement, without its kind and ids, and without what a search takes for a phrase. */
export const plain = (statement: string): string =>
  citingOnly(statement, () => false)
    .replace(/^[-*•] (?:\w+: )?/, '')
    .replace(/["“”„«»]/g, ' ');

const normal = (text: string): string => text.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();

function hasAll(wanted: readonly string[]): (statement: string) => boolean {
  return (statement) => {
    const has = new Set(words(statement));
    return wanted.length > 0 && wanted.every((word) => has.has(word));
  };
}
