import { prose } from '../spec/support/prose.js';
import { numbers } from './recall-lives.js';

/** One question of a life, with what its answer takes. Sizes are in tokens of four characters. */
export interface Asked {
  /** Seconds since the life began. */
  readonly at: number;
  /** Whether it begins a burst, for which others would open a fresh chat. */
  readonly isFirst: boolean;
  readonly text: string;
  readonly answer: string;
  /** The sizes of the files that the model reads before it answers. */
  readonly reads: readonly number[];
}

/** The habits of a user. Shares are of the questions; the document is of the bursts. */
export interface Habits {
  readonly perBurst: number;
  /** The mean number of hours from one burst to the next. */
  readonly hours: number;
  /** A pause of 5 to 60 minutes within a burst. */
  readonly rests: number;
  readonly pastes: number;
  readonly documents: number;
  readonly tools: number;
}

/** Three in four pauses of over five minutes are over an hour; in the light life nine in ten. */
export const HABITS: Readonly<Record<'daily' | 'light', Habits>> = {
  daily: { perBurst: 4, hours: 10.7, rests: 0.06, pastes: 0.05, documents: 0.03, tools: 0.15 },
  light: { perBurst: 2.1, hours: 27, rests: 0.06, pastes: 0.03, documents: 0.02, tools: 0.03 },
};

const LEAST_HOURS = 1.2;

/** So many questions of a user with these habits. */
export function questionsOf(habits: Habits, count: number): readonly Asked[] {
  const random = numbers();
  const words = new Words(random);
  const asked: Asked[] = [];
  for (let at = 0; asked.length < count; at += 3600 * (LEAST_HOURS + exponential(random, habits.hours - LEAST_HOURS))) {
    const subject = words.subject();
    const hasDocument = random() < habits.documents;
    for (let place = 0; place === 0 || random() < 1 - 1 / habits.perBurst; place += 1) {
      if (place > 0) at += random() < habits.rests ? 300 + 3300 * random() : Math.min(3000, logNormal(random, 55, 1.1));
      const pasted = pastedTokens(random, habits, hasDocument && place === 0);
      const text = words.text(subject, logNormal(random, 28, 1));
      asked.push({
        at: Math.round(at),
        isFirst: place === 0,
        text: pasted === 0 ? text : `${text}?\n\n${words.text(subject, pasted)}`,
        answer: words.text(subject, Math.min(4000, logNormal(random, 180, 0.9))),
        reads: random() < habits.tools ? readsOf(random) : [],
      });
    }
  }
  return asked.slice(0, count);
}

function pastedTokens(random: () => number, { pastes }: Habits, isDocument: boolean): number {
  if (isDocument) return Math.min(120_000, logNormal(random, 15_000, 1));
  return random() < pastes ? Math.min(30_000, logNormal(random, 900, 1.1)) : 0;
}

function readsOf(random: () => number): readonly number[] {
  const count = Math.min(30, Math.ceil(exponential(random, 3)));
  return Array.from({ length: count }, () => Math.min(7500, logNormal(random, 350, 1.4)));
}

/** A message of a life that goes on for very long, and a question about it. */
export function* saidInLife(count: number): Generator<string> {
  const words = new Words(numbers());
  for (let said = 0; said < count; ) {
    const subject = words.subject();
    for (let place = 0; place < 8 && said < count; place += 1) {
      yield words.text(subject, said % 2 === 0 ? 20 : 80);
      said += 1;
    }
  }
}

/** Small questions, three in four of them on subjects of `saidInLife`. */
export function smallQuestions(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const words = [0, 2, 4].map((place) => ownWord(index % SUBJECTS, place));
    return index % 4 === 1 ? `What is ${index}+${index}?` : `What about ${words.join(' ')}?`;
  });
}

const exponential = (random: () => number, mean: number): number => -mean * Math.log(1 - random());

function logNormal(random: () => number, middle: number, sigma: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return Math.max(4, middle * Math.exp(sigma * normal));
}

/**
 * The number of subjects of a life, which come back again and again, and of the rarer words in all and of one subject.
 */
const SUBJECTS = 12;
const RARE = 6000;
const OWN = 40;

/** Texts in which a subject has words of its own, so that what was said of it is found. */
class Words {
  readonly #random: () => number;
  #texts = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  subject(): number {
    return Math.floor(SUBJECTS * this.#random() ** 2);
  }

  text(subject: number, tokens: number): string {
    const characters = Math.ceil(4 * tokens);
    this.#texts += 1;
    const plain = prose(characters, this.#texts).split(' ');
    return plain
      .map((word) => (this.#random() < 0.25 ? this.#rare(subject) : word))
      .join(' ')
      .slice(0, characters);
  }

  /** A word of the subject, or any other, the first ones more often. */
  #rare(subject: number): string {
    const isOwn = this.#random() < 0.7;
    const place = Math.floor((isOwn ? OWN : RARE) * this.#random() ** 2);
    return isOwn ? ownWord(subject, place) : spelled(place);
  }
}

const ownWord = (subject: number, place: number): string => spelled((subject * 97 + place * 61) % RARE);

const SYLLABLES = 'ba ke li mo nu ra se ti vo zu da fe gi ho ju pa re si to wu'.split(' ');

/** A word for a number. */
function spelled(number: number): string {
  const syllable = (divisor: number): string => SYLLABLES[Math.floor(number / divisor) % SYLLABLES.length] ?? '';
  return syllable(1) + syllable(20) + syllable(400) + syllable(7);
}
