import { Collector } from '../lib/recall/index/collector.js';
import type { RankedDocument } from '../lib/recall/rank/chooser.js';
import { parseQuery, whoIsAsked } from '../lib/recall/rank/query.js';
import { certainty, rank, Scores } from '../lib/recall/rank/rank.js';
import { LOOK_UPS } from '../spec/recall/look-ups.js';
import { around, renamed, setNames, type Talk, talks } from './recall-talks.js';
import type { Row } from './row.js';

/** A talk that can be searched. */
interface Indexed {
  readonly talk: Talk;
  ask(question: string): readonly RankedDocument[];
}

/**
 * How well earlier messages are found, by questions with known answers. The project does not contain these; without
 * them only look-ups are measured.
 */
export async function qualityRows(): Promise<readonly Row[]> {
  let rows: readonly Row[] = [];
  for (const name of setNames()) rows = [...rows, ...(await setRows(name))];
  return [...rows, ...lookUpRows()];
}

/** The rows of one set: talks between people, or chats with an assistant, in any language. */
async function setRows(name: string): Promise<readonly Row[]> {
  const all = talks(name);
  const isOfPeople = all.some(({ messages }) =>
    messages.some(({ name: who, role }) => who !== undefined && who !== role),
  );
  if (!isOfPeople)
    return exchangeRows(
      name,
      all.map((talk) => indexed(talk, ({ text }) => text)),
    );
  const people = all.map((talk) => indexed(talk, ({ name: who, text }) => `${who}: ${text}`));
  return [...turnRows(name, people), ...(people.length > 2 ? silenceRows(people) : [])];
}

function indexed(talk: Talk, said: (message: Talk['messages'][number]) => string): Indexed {
  const collector = new Collector();
  const texts = talk.messages.map(said);
  talk.messages.forEach(({ role, at }, index) => {
    const day = Math.floor(Date.parse(at ?? '') / 86_400_000) || 0;
    collector.add({ kind: role === 'user' ? 'user' : 'model', day, text: texts[index] ?? '' });
  });
  const scores = new Scores([collector]);
  const ask = (question: string): readonly RankedDocument[] => {
    const bounds = { kinds: null, from: null, until: null, favour: whoIsAsked(question) };
    return [...rank(scores, parseQuery(question), bounds, (document) => texts[document] ?? '')];
  };
  return { talk, ask };
}

const percent = (share: number): number => Math.round(share * 1000) / 10;
const mean = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0) / numbers.length;

/** The share of the wanted items that are among the first. */
function recall<Kind>(ranked: readonly Kind[], wanted: readonly Kind[], first: number): number {
  const found = new Set(ranked.slice(0, first));
  return wanted.filter((one) => found.has(one)).length / wanted.length;
}

function turnRows(name: string, people: readonly Indexed[]): readonly Row[] {
  const asked = people.flatMap(({ talk, ask }) =>
    talk.questions
      .filter(({ gold }) => gold.length > 0)
      .map(({ q, gold, sessions }) => {
        const documents = ask(q).map(({ document }) => document);
        const ids = documents.map((document) => talk.messages[document]?.id ?? '');
        const seen = documents.slice(0, 10).flatMap((document) => around(talk, document));
        const talked = [...new Set(documents.map((document) => talk.messages[document]?.session ?? 0))];
        return {
          five: recall(ids, gold, 5),
          ten: recall(ids, gold, 10),
          seen: recall(seen, gold, seen.length),
          sessions: recall(talked, sessions, 10),
        };
      }),
  );
  const what = `${name}, ${asked.length} questions`;
  return [
    {
      what: `${what}: evidence in the first 5`,
      value: percent(mean(asked.map(({ five }) => five))),
      unit: '%',
      least: 64,
    },
    { what: `${what}: in the first 10`, value: percent(mean(asked.map(({ ten }) => ten))), unit: '%', least: 72 },
    {
      what: `${what}: its sessions`,
      value: percent(mean(asked.map(({ sessions }) => sessions))),
      unit: '%',
      least: 92,
    },
    {
      what: `${what}: seen with neighbours`,
      value: percent(mean(asked.map(({ seen }) => seen))),
      unit: '%',
      least: 82,
    },
  ];
}

function exchangeRows(name: string, chats: readonly Indexed[]): readonly Row[] {
  const asked = chats.flatMap(({ talk, ask }) => {
    const places = new Map(talk.messages.map(({ id }, index) => [id, index]));
    const exchange = (index: number): number =>
      talk.messages.findLastIndex(({ role }, at) => at <= index && role === 'user');
    return talk.questions
      .filter(({ gold }) => gold.length > 0)
      .map(({ q, gold }) => {
        const documents = ask(q).map(({ document }) => document);
        const wanted = [...new Set(gold.map((id) => exchange(places.get(id) ?? 0)))];
        const ids = documents.map((document) => talk.messages[document]?.id ?? '');
        return { turns: recall(ids, gold, 10), exchanges: recall([...new Set(documents.map(exchange))], wanted, 10) };
      });
  });
  const what = `${name}, ${asked.length} questions`;
  return [
    {
      what: `${what}: evidence in the first 10`,
      value: percent(mean(asked.map(({ turns }) => turns))),
      unit: '%',
      least: 47,
    },
    {
      what: `${what}: exchanges in the first 10`,
      value: percent(mean(asked.map(({ exchanges }) => exchanges))),
      unit: '%',
      least: 56,
    },
  ];
}

function lookUpRows(): readonly Row[] {
  const collector = new Collector();
  for (const { text } of LOOK_UPS) collector.add({ kind: 'user', day: 0, text });
  const scores = new Scores([collector]);
  const bounds = { kinds: null, from: null, until: null, favour: {} };
  const found = LOOK_UPS.filter(({ query }, index) => {
    const [first] = rank(scores, parseQuery(query), bounds, (document) => LOOK_UPS[document]?.text ?? '');
    return first?.document === index;
  });
  const what = `${LOOK_UPS.length} identifiers and accents: found first`;
  return [{ what, value: percent(found.length / LOOK_UPS.length), unit: '%', least: 90 }];
}

/**
 * With a threshold that lets 5 % of the unanswerable questions pass: the same questions, with the names of people from
 * another talk.
 */
function silenceRows(people: readonly Indexed[]): readonly Row[] {
  const answerable: { readonly sure: number; readonly isRight: boolean }[] = [];
  const [foreign, small]: [number[], number[]] = [[], []];
  people.forEach(({ talk, ask }, index) => {
    const other = people[(index + 1) % people.length] ?? people[0];
    const third = people[(index + 2) % people.length] ?? people[0];
    if (other === undefined || third === undefined) return;
    for (const { q, gold } of talk.questions.filter(({ gold: wanted }) => wanted.length > 0)) {
      const ranked = ask(q);
      const shown = ranked.slice(0, 3).flatMap(({ document }) => around(talk, document));
      answerable.push({ sure: sureOf(ranked), isRight: gold.some((id) => shown.includes(id)) });
      foreign.push(sureOf(other.ask(renamed(q, talk, other.talk))));
    }
    for (const { text } of talk.messages.filter((_, place) => place % 4 === 0)) small.push(sureOf(third.ask(text)));
  });
  const threshold = foreign.sort((one, two) => two - one)[Math.floor(foreign.length * 0.05)] ?? 0;
  const fired = answerable.filter(({ sure }) => sure > threshold);
  return [
    {
      what: 'silent on 95 % of questions about others: fired where there is an answer',
      value: percent(fired.length / answerable.length),
      unit: '%',
      least: 50,
    },
    {
      what: 'the same: right in the first three',
      value: percent(mean(fired.map(({ isRight }) => (isRight ? 1 : 0)))),
      unit: '%',
      least: 85,
    },
    {
      what: 'the same: fired at small talk',
      value: percent(small.filter((sure) => sure > threshold).length / small.length),
      unit: '%',
      limit: 10,
    },
  ];
}

function sureOf([first]: readonly RankedDocument[]): number {
  return first === undefined ? 0 : certainty(first);
}
