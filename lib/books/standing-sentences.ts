import { typedText } from '../chat/message.js';
import { type BookFiles, messagesOf } from './book.js';

/** A sentence of the user's own that they said in several conversations with other programs. */
export interface StandingSentence {
  /** As it was said last. */
  readonly text: string;
  /** In how many conversations it was said. */
  readonly conversations: number;
  /** The first message in each of the first of them, as `#chatgpt:12`, with its time (ISO 8601, or empty). */
  readonly evidence: readonly { readonly id: string; readonly at: string }[];
}

/** Said in this many conversations, a sentence is a wish that stands, in whatever language. */
const LEAST_CONVERSATIONS = 3;

/**
 * What is hardly a wish: a sentence with fewer words, a longer one, and one in a message that long, which was pasted.
 */
const LEAST_WORDS = 3;
const LONGEST_SENTENCE = 200;
const LONGEST_MESSAGE = 4000;

/** How much is told about a sentence, and how many sentences are told. */
const MOST_EVIDENCE = 3;
const MOST_SENTENCES = 20;

/** A sentence, or what is left of a line. */
const SENTENCE = /[^.!?。！？\n]+[.!?。！？]*/g;

interface Said {
  text: string;
  /**
   * The conversation that it was said in first, and the others. Most sentences have none, so that these cost nothing.
   */
  readonly first: string;
  others: Set<string> | null;
  readonly evidence: { readonly id: string; readonly at: string }[];
}

/**
 * The sentences that the user said again and again in these books, most often first: no questions, and only their own
 * words, as the source proves them. Asks no model. Throws a `HiError` for a damaged book. `prepareCodec` comes before.
 */
export function standingSentences(books: readonly BookFiles[]): readonly StandingSentence[] {
  const all = new Map<string, Said>();
  for (const book of books)
    for (const { id, at, role, content, imported, rests_on } of messagesOf(book)) {
      const text = role === 'user' && rests_on !== 'foreign' ? typedText(content) : '';
      if (text.length > LONGEST_MESSAGE) continue;
      const thread = `${book.name} ${imported?.thread ?? ''}`;
      for (const [sentence] of text.matchAll(SENTENCE))
        note(all, sentence.trim(), thread, { id: `#${book.name}:${id}`, at });
    }
  return [...all.values()]
    .filter((said) => conversationsOf(said) >= LEAST_CONVERSATIONS && wordsIn(said.text) >= LEAST_WORDS)
    .sort((one, other) => conversationsOf(other) - conversationsOf(one))
    .slice(0, MOST_SENTENCES)
    .map((said) => ({ text: said.text, conversations: conversationsOf(said), evidence: said.evidence }));
}

function note(all: Map<string, Said>, text: string, thread: string, where: Said['evidence'][number]): void {
  if (text === '' || text.length > LONGEST_SENTENCE || /[?？]$/.test(text)) return;
  const key = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
  const said = all.get(key);
  if (said === undefined) all.set(key, { text, first: thread, others: null, evidence: [where] });
  else if (said.first !== thread && !said.others?.has(thread)) {
    said.text = text;
    said.others ??= new Set();
    said.others.add(thread);
    if (said.evidence.length < MOST_EVIDENCE) said.evidence.push(where);
  }
}

const conversationsOf = ({ others }: Said): number => 1 + (others?.size ?? 0);

function wordsIn(text: string): number {
  const words = new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text);
  return [...words].filter(({ isWordLike }) => isWordLike).length;
}
