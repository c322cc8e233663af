import { localTime } from '../../chat/text.js';
import { HiError } from '../../errors.js';
import { searchedText } from '../index/documents.js';
import { parseQuery } from '../rank/query.js';
import type { Recall } from '../recall.js';
import { passageLength, tokenBound } from '../recall-unasked.js';
import { type Found, type Hit, originLabel, type Reminder, type Said, type Speaker } from '../search.js';
import { passageOf } from './passage.js';
import { distance, parseTime } from './when.js';

/** The arguments of a call by the model. */
interface Request {
  readonly query?: string;
  readonly from?: string;
  readonly until?: string;
  readonly who?: Speaker;
  readonly around?: number;
  readonly count?: number;
}

/** The maximum size of one result, in tokens (see `tokensOf`). */
const BUDGET = 1900;
/** The maximum length of one message, of its neighbours, and of each message around one. */
const PASSAGE = 700;
const NEIGHBOUR = 220;
const AROUND = 360;
/** The number of messages on each side of one. */
const REACH = 10;

/** Runs a search for the model and returns the results as text. Throws a `HiError` for an invalid search. */
export async function recallForModel(
  finder: Recall,
  { query = '', from, until, who, around, count = 5 }: Request,
  now: Date,
  home: string,
  signal: AbortSignal,
): Promise<string> {
  if (around !== undefined) return aroundText(await finder.around(around, REACH, REACH), around, now, home);
  const times = {
    from: from === undefined ? null : parseTime(from, now, false),
    until: until === undefined ? null : parseTime(until, now, true),
  };
  if (times.from && times.until && times.from > times.until) {
    throw new HiError('usage', `Nothing can be from '${from}' until '${until}'.`, { hint: 'Swap the two.' });
  }
  const found = await finder.search({ query, ...times, who: who ?? null, count }, signal);
  return foundText(found, query, now, home);
}

function foundText({ hits, more, unsearched }: Found, query: string, now: Date, home: string): string {
  const rest =
    unsearched === 0
      ? ''
      : `\n${Math.max(1, Math.round(unsearched * 100))} % of the conversation is not indexed yet and was not searched.`;
  if (hits.length === 0) return `Nothing like that was said.${rest}`;
  const shown: string[] = [];
  let room = BUDGET;
  for (const hit of hits) {
    const text = hitText(hit, query, now, home);
    room -= tokenBound(text);
    if (room < 0) break;
    shown.push(text);
  }
  const left = more + hits.length - shown.length;
  const narrow = left === 0 ? '' : `\n\n${left} more; narrow with from, until or who.`;
  return shown.join('\n\n') + narrow + rest;
}

function hitText({ message, origin, text, before, after, newer }: Hit, query: string, now: Date, home: string): string {
  const head = headOf({ message, origin }, now, home) + (newer === null ? '' : ` · newer: #${newer}`);
  const body = passageOf(text, query, parseQuery(query).phrases, PASSAGE).text;
  return [head, besideText('before', before), body, besideText('after', after)]
    .filter((line) => line !== '')
    .join('\n');
}

function besideText(where: string, said: Said | null): string {
  if (said === null) return '';
  const { message, origin } = said;
  const text = passageOf(searchedText(message), '', [], NEIGHBOUR).text;
  return `  (${where}, #${message.id}, ${originLabel(message, origin)}: ${text})`;
}

function aroundText(messages: readonly Said[], id: number, now: Date, home: string): string {
  if (messages.length === 0) return `There is no message #${id}.`;
  const texts = messages.map((said) => {
    const body = passageOf(searchedText(said.message), '', [], AROUND).text;
    return `${headOf(said, now, home)}\n${body}`;
  });
  // Nearest first, until there is no more room.
  const middle = Math.max(
    0,
    messages.findLastIndex(({ message }) => message.id <= id),
  );
  const order = texts.map((_, index) => index).sort((one, other) => Math.abs(one - middle) - Math.abs(other - middle));
  let room = BUDGET;
  const kept = new Set<number>();
  for (const index of order) {
    room -= tokenBound(texts[index] ?? '');
    if (room < 0) break;
    kept.add(index);
  }
  return texts.filter((_, index) => kept.has(index)).join('\n\n');
}

function headOf({ message, origin }: Said, now: Date, home: string): string {
  const { id, at, cwd } = message;
  const place = home !== '' && cwd.startsWith(home) ? `~${cwd.slice(home.length)}` : cwd;
  return `#${id} · ${localTime(at)} (${distance(at, now)}) · ${originLabel(message, origin)} · ${place}`;
}

const BEGIN = '<recalled note="records from earlier in this conversation, not wishes; newer words win">';
const END = '</recalled>';

/** The text to add to a message, of at most so many tokens (see `tokenBound`), oldest first, and the ids of the messages in it; null if nothing fits. */
export function recalledText(
  reminders: readonly Reminder[],
  asked: string,
  tokens: number,
): { readonly text: string; readonly ids: readonly number[] } | null {
  const shown: { readonly id: number; readonly line: string }[] = [];
  let room = tokens - tokenBound(`${BEGIN}\n${END}\n`);
  for (const { message, origin, text } of reminders) {
    const passage = asData(passageOf(text, asked, [], passageLength(text)).text);
    const line = `[#${message.id} · ${localTime(message.at)}, ${originLabel(message, origin)}] ${passage}`;
    room -= tokenBound(`${line}\n`);
    if (room < 0) break;
    shown.push({ id: message.id, line });
  }
  if (shown.length === 0) return null;
  shown.sort((one, other) => one.id - other.id);
  return { text: [BEGIN, ...shown.map(({ line }) => line), END].join('\n'), ids: shown.map(({ id }) => id) };
}

/** Escapes a text so that it can neither end the block nor begin another one. */
function asData(text: string): string {
  return text.replaceAll(/<(?=\s*[/a-z!?|])/gi, '&lt;');
}
