import type { Message } from '../lib/chat/message.js';
import type { Talk } from './recall-talks.js';

/**
 * A conversation of many talks at once, as one person leads it over months: bursts of messages, each of another talk.
 */
export interface Life {
  readonly messages: readonly Message[];
  /** By burst, the number of messages up to its end. */
  readonly ends: readonly number[];
  readonly questions: readonly LifeQuestion[];
}

/** A question about a talk of a life. */
export interface LifeQuestion {
  readonly q: string;
  /** The ids of the messages with the answer, and the burst of the newest of them. */
  readonly gold: readonly number[];
  readonly burst: number;
}

/** The messages of a burst of a long talk, and the hours from one burst to the next. */
const BURST = 16;
const HOURS = 10;

/** Words up to this rank of frequency are the same in all copies of a talk. */
const COMMON = 600;

/**
 * Words are exchanged for others among so many that are about as frequent, and by so many places from one copy to the
 * next.
 */
const ALIKE = 256;
const PLACES = 29;

type Said = Talk['messages'][number];

/** A talk that a life contains: the bursts that have not happened yet, and for a copy what exchanges its words. */
interface Thread {
  readonly talk: Talk;
  readonly isCopy: boolean;
  readonly bursts: Said[][];
  exchanged(text: string): string;
}

/**
 * The talks, in bursts in random order, until there are `size` messages. If that takes copies, their names and rarer
 * words are exchanged.
 */
export function lifeOf(talks: readonly Talk[], size: number, random: () => number): Life {
  const exchange = exchanges(talks);
  const copies = Math.ceil(size / talks.reduce((sum, { messages }) => sum + messages.length, 0));
  const threads = Array.from({ length: copies }, (_, copy) =>
    talks.map((talk) => ({ talk, isCopy: copy > 0, bursts: burstsOf(talk), exchanged: exchange(copy) })),
  ).flat();
  const messages: Message[] = [];
  const ends: number[] = [];
  const placed = new Map(talks.map((talk) => [talk, new Map<string, { id: number; burst: number }>()]));
  for (let left = threads.reduce((sum, { bursts }) => sum + bursts.length, 0); left > 0; left -= 1) {
    const thread = chosen(threads, Math.floor(random() * left));
    for (const said of thread?.bursts.shift() ?? []) {
      const [id, burst] = [messages.length + 1, ends.length];
      if (thread?.isCopy === false) placed.get(thread.talk)?.set(String(said.id), { id, burst });
      messages.push(messageOf(said, id, burst, messages.at(-1)?.turn, thread?.exchanged ?? String));
    }
    ends.push(messages.length);
  }
  const questions = talks.flatMap((talk) => questionsOf(talk, placed.get(talk) ?? new Map()));
  return { messages, ends, questions };
}

/** The thread of the burst with that number, of all that have not happened yet. */
function chosen(threads: readonly Thread[], number: number): Thread | undefined {
  let left = number;
  return threads.find(({ bursts }) => {
    left -= bursts.length;
    return left < 0;
  });
}

function questionsOf(
  { questions }: Talk,
  placed: ReadonlyMap<string, { readonly id: number; readonly burst: number }>,
): readonly LifeQuestion[] {
  return questions
    .filter(({ gold }) => gold.length > 0)
    .map(({ q, gold }) => {
      const found = gold.flatMap((id) => placed.get(String(id)) ?? []);
      const newest = found.reduce((last, { burst }) => Math.max(last, burst), 0);
      return { q, gold: found.map(({ id }) => id), burst: newest };
    });
}

function messageOf(
  { role, name, text }: Said,
  id: number,
  burst: number,
  turn: number | undefined,
  exchanged: (text: string) => string,
): Message {
  const said = exchanged(name === undefined || name === role ? text : `${name}: ${text}`);
  const at = new Date(Date.UTC(2024, 0, 1) + (burst * HOURS * 60 + (id % 64)) * 60_000).toISOString();
  const common = { id, at, cwd: '/', content: [{ type: 'text', text: said }] } as const;
  if (role === 'user') return { ...common, turn: id, role };
  return { ...common, turn: turn ?? id, role: 'assistant', stop_reason: 'end' };
}

/** The sessions of a talk between people; those of a chat in parts that begin with the user. */
function burstsOf({ messages }: Talk): Said[][] {
  const bursts: Said[][] = [];
  let session = -1;
  for (const message of messages) {
    const burst = bursts.at(-1);
    const isLong = (burst?.length ?? 0) >= BURST && message.role === 'user' && message.name === message.role;
    if (burst === undefined || message.session !== session || isLong) bursts.push([message]);
    else burst.push(message);
    session = message.session;
  }
  return bursts;
}

const WORD = /\p{L}{3,}/gu;

/** For the number of a copy, what exchanges its rarer words for others that are about as frequent. */
function exchanges(talks: readonly Talk[]): (copy: number) => (text: string) => string {
  const counts = new Map<string, number>();
  for (const { name = '', text } of talks.flatMap(({ messages }) => messages)) {
    for (const word of `${name} ${text}`.toLowerCase().match(WORD) ?? []) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const words = [...counts].sort((one, other) => other[1] - one[1]).map(([word]) => word);
  const places = new Map(words.map((word, index) => [word, index]));
  const other = (word: string, copy: number): string => {
    const place = places.get(word.toLowerCase()) ?? 0;
    if (place < COMMON) return word;
    const next = words[place - (place % ALIKE) + (((place % ALIKE) + copy * PLACES) % ALIKE)] ?? word;
    return /^\p{Lu}/u.test(word) ? next.charAt(0).toUpperCase() + next.slice(1) : next;
  };
  return (copy) => (copy === 0 ? String : (text) => text.replace(WORD, (word) => other(word, copy)));
}

/** Pseudo-random numbers, the same in each run. */
export function numbers(): () => number {
  let state = 7;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
