import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type BookMessage, BookWriter, bookFiles } from '../lib/books/book.js';
import { recallOf } from '../lib/books/open-book.js';
import { historyPathsIn } from '../lib/history/base/history-paths.js';
import { loadCodec } from '../lib/history/file/codec.js';
import { replaceHistory } from '../lib/history/repair/repair.js';
import { HistoryStore } from '../lib/history/store.js';
import { askedIn, mayAsk } from '../lib/recall/asked.js';
import { Recall } from '../lib/recall/recall.js';
import { recalledParts } from '../lib/recall/show/for-model.js';
import { type Id, setNames, type Talk, talks } from './recall-talks.js';
import type { Row } from './row.js';

/** What automatic recall may add. */
const TOKENS = 3000;

/** How many hits are looked at. */
const FIRST = 10;

/**
 * Whether questions find the same in a book as in the conversation, and what they recall of the wrong talk if all talks
 * are in one book. No rows without talks.
 */
export async function talkRows(folder: string): Promise<readonly Row[]> {
  let rows: readonly Row[] = [];
  for (const name of setNames()) rows = [...rows, ...(await setRows(join(folder, name), name))];
  if (rows.length === 0) return [];
  const all = setNames().flatMap(talks);
  const recalled = await recalledIn(join(folder, 'archive'), all);
  const percent = (isSo: (one: Recalled) => boolean): number =>
    (100 * recalled.filter(isSo).length) / Math.max(1, recalled.length);
  const what = `${all.length} talks in one book, ${recalled.length} questions`;
  return [
    ...rows,
    { what: `${what}: evidence recalled`, value: percent(({ hasEvidence }) => hasEvidence), unit: '%', least: 70 },
    {
      what: 'the same: recalled from wrong talks only',
      value: percent(({ right, wrong }) => wrong > 0 && right === 0),
      unit: '%',
      limit: 5,
    },
    {
      what: 'the same: something of a wrong talk beside the right one',
      value: percent(({ right, wrong }) => wrong > 0 && right > 0),
      unit: '%',
    },
  ];
}

/** The messages of talks, and where each is from. */
interface Said {
  readonly messages: readonly BookMessage[];
  readonly from: readonly { readonly talk: Talk; readonly id: Id }[];
}

function saidIn(all: readonly Talk[]): Said {
  const from = all.flatMap((talk) => talk.messages.map(({ id }) => ({ talk, id })));
  const messages = all.flatMap((talk, number) =>
    talk.messages.map(({ id, role, name, at, text }): BookMessage => {
      const words = name === undefined || name === role ? text : `${name}: ${text}`;
      const imported = { thread: String(number), id: String(id) };
      const said = { at: at === undefined ? '' : new Date(at).toISOString(), cwd: '', imported } as const;
      const content = [{ type: 'text', text: words }] as const;
      return role === 'user'
        ? { ...said, content, role: 'user' }
        : { ...said, content, role: 'assistant', model: 'm', stop_reason: 'end' };
    }),
  );
  return { messages, from };
}

const answered = ({ questions }: Talk): Talk['questions'] => questions.filter(({ gold }) => gold.length > 0);

/** The search over a book of these messages. */
function bookOf(folder: string, { messages }: Said): Recall {
  const files = bookFiles(folder, 'talks');
  const writer = new BookWriter(files);
  writer.add(messages);
  writer.commit();
  return recallOf(files, { writes: true, indexesAll: true });
}

/** The evidence in the first hits, in percent, asked of the conversation and of the book, each talk by itself. */
async function setRows(folder: string, name: string): Promise<readonly Row[]> {
  const shares: { readonly conversation: number; readonly book: number }[] = [];
  for (const [number, talk] of talks(name).entries()) {
    const said = saidIn([talk]);
    const own = join(folder, String(number));
    mkdirSync(own, { recursive: true });
    const entries = said.messages.map((message, index) => ({ id: index + 1, turn: index + 1, ...message }));
    replaceHistory(loadCodec(), historyPathsIn(own), 'talk', entries);
    const history = await HistoryStore.open({ folder: own, now: () => new Date() });
    const conversation = new Recall({ folder: join(own, 'recall'), history, writes: true, indexesAll: true });
    const book = bookOf(join(own, 'imports'), said);
    for (const { q, gold } of answered(talk)) {
      const share = async (recall: Recall): Promise<number> => {
        const { hits } = await recall.search({ query: q, who: null, from: null, until: null, count: FIRST });
        const ids = new Set(hits.map(({ message }) => said.from[message.id - 1]?.id));
        return gold.filter((id) => ids.has(id)).length / gold.length;
      };
      shares.push({ conversation: await share(conversation), book: await share(book) });
    }
    conversation.close();
    book.close();
    await history.close();
  }
  const mean = (of: (one: (typeof shares)[number]) => number): number =>
    (100 * shares.reduce((sum, one) => sum + of(one), 0)) / shares.length;
  const conversation = mean((one) => one.conversation);
  const least = Math.floor(10 * conversation - 5) / 10;
  return [
    {
      what: `${name}, ${shares.length} questions, evidence in the first 10: of the conversation`,
      value: conversation,
      unit: '%',
    },
    { what: 'the same, asked of a book', value: mean((one) => one.book), unit: '%', least },
  ];
}

/**
 * What a question recalled: how many messages of its own talk and of others, and whether the evidence is among them.
 */
interface Recalled {
  readonly right: number;
  readonly wrong: number;
  readonly hasEvidence: boolean;
}

async function recalledIn(folder: string, all: readonly Talk[]): Promise<readonly Recalled[]> {
  const said = saidIn(all);
  const book = bookOf(folder, said);
  await book.rebuild(new AbortController().signal);
  await book.join();
  await book.calibrate(Number.POSITIVE_INFINITY);
  const outcomes: Recalled[] = [];
  for (const talk of all)
    for (const { q, gold } of answered(talk)) {
      const asked = askedIn(q);
      const known = { isSeen: () => false, isSaid: () => false };
      const reminded = mayAsk(asked) ? await book.remind(asked, known, TOKENS, Number.POSITIVE_INFINITY) : 'late';
      const parts = reminded === 'late' ? [] : recalledParts(reminded.reminders, asked, TOKENS);
      const from = parts.flatMap(({ recalled = [] }) => recalled.flatMap((id) => said.from[id - 1] ?? []));
      const right = from.filter((one) => one.talk === talk);
      outcomes.push({
        right: right.length,
        wrong: from.length - right.length,
        hasEvidence: right.some(({ id }) => gold.includes(id)),
      });
    }
  book.close();
  return outcomes;
}
