import { undoneIds } from '../chat/entry-list.js';
import { citedIn, citing, citingOnly, statementsOf } from '../chat/marked-text.js';
import type { HistoryStore } from '../history/store.js';
import type { Finder } from '../recall/recall.js';
import type { Said } from '../recall/search.js';
import { words } from '../recall/words/words.js';
import { stateOf } from '../view/block-state.js';

/** A message that a statement is based on. */
export interface Ground extends Said {
  readonly isUndone: boolean;
}

/** A statement of the summary, and the messages it is based on. */
export interface Grounds {
  readonly statement: string;
  /** False if it cites no existing message: then these are the summarised messages that match it best. */
  readonly isNamed: boolean;
  readonly messages: readonly Ground[];
  /** The ids it cites of messages that are no longer in the history. */
  readonly missing: readonly number[];
}

/** How many messages are returned for a statement that cites none, and from how many they are chosen. */
const FITTING = 3;
const SEARCHED = 20;

/**
 * The statements of the current summary that contain a text, all its words, or the id `#12`, in order; null if there is
 * no summary.
 */
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

/** The messages that a statement of the summary cites, or else those that match it best. */
export async function groundsOf(
  statement: string,
  history: HistoryStore,
  finder: Finder,
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
  finder: Finder,
  signal: AbortSignal,
): Promise<readonly Ground[]> {
  const sent = new Set(history.view(null).messages.map(({ id }) => id));
  const query = plain(statement);
  const wanted = new Set(words(query));
  const { hits } = await finder.search({ query, who: null, from: null, until: null, count: SEARCHED }, signal);
  // The search also returns neighbours of matching messages.
  const fits = (text: string): boolean => words(text).some((word) => wanted.has(word));
  const out = hits.filter(({ message, text }) => !sent.has(message.id) && fits(text));
  return out.slice(0, FITTING).map(({ message, origin }) => ({ message, origin, isUndone: false }));
}

/** The words of a statement, without its kind and ids, and without quotes, which a search would read as a phrase. */
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
