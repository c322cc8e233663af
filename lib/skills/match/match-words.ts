import { GLUE } from './common-words.js';
import { everyWordOf, type Stems, type Word, wordsOf } from './telling-words.js';

/** A skill as far as matching needs it. */
export interface MatchableSkill {
  readonly name: string;
  /** The words that tell what it is about, as `stemsOf` makes them. */
  readonly stems: string;
}

/** A skill that a text is about, and how much it is. */
export interface Match {
  readonly name: string;
  readonly score: number;
}

/** What a word is worth to a skill that has it in its name, keywords, description or headings. */
const WORTH = [3, 3, 2, 1] as const;

/** The worth of a description word and a heading word that no other skill has. */
const ENOUGH = 3;

/** How many telling words of a message may pass before one more must be shared: a long paste has a few words of everything. */
const TALKATIVE = 40;

/** The telling words of a skill as `matchWords` reads them, made once and kept: ` name | keywords | description | headings `. */
export function stemsOf([name, ...fields]: readonly [string, string, string, string], stems: Stems): string {
  const lists = [nameWords(name, stems), ...fields.map((field) => wordsOf(field, stems))];
  return ` ${lists.map((words) => [...firstOfEach(words).keys()].join(' ')).join(' | ')} `;
}

/** Common words are a name where it has no others, such as `weather` or `todo`; what every sentence has is none. */
function nameWords(name: string, stems: Stems): readonly Word[] {
  const telling = wordsOf(name, stems);
  const isGlue = runsOf(name).every((run) => GLUE.has(run) || run.length === 1);
  return telling.length > 0 || isGlue ? telling : everyWordOf(name, stems);
}

/** The words of a text as they are written, in lower case. */
const runsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{M}\p{N}+#]+/gu) ?? [];

/**
 * The skills that a text is about, the best first. It is about a skill when it has every telling word of its name, calls it a skill by its name, or
 * shares two telling words that together are worth enough; a word is worth less the more skills share it. `bar` scales what is enough.
 */
export function matchWords(skills: readonly MatchableSkill[], text: string, bar = 1): readonly Match[] {
  const ends = endsOf(text);
  const every = everyWordOf(ends);
  const spoken = firstOfEach(every.filter(({ isCommon }) => !isCommon));
  const all = new Map([...firstOfEach(every), ...spoken]);
  const isCalled = callsFor(ends);
  const tallies = skills.map((skill) => ({ skill, score: 0, shared: [] as Word[] }));
  for (const word of all.values()) {
    const worths = skills.map(({ stems }) => (word.isCommon ? worthInName : worthOf)(word.stem, stems));
    const rarity = rarityOf(worths.filter((worth) => worth > 0).length, skills.length);
    for (const [index, tally] of tallies.entries()) {
      const worth = worths[index] ?? 0;
      if (worth > 0) tally.shared.push(word);
      tally.score += worth * rarity;
    }
  }
  const neededWords = 2 + Math.floor(Math.log2(Math.max(1, spoken.size / TALKATIVE)));
  const isMeant = ({ skill, score, shared }: (typeof tallies)[number]): boolean =>
    isCalled(skill) ||
    (shared.length > 0 && (isNamed(skill, all) || (score >= ENOUGH * bar && countApart(shared) >= neededWords)));
  return tallies
    .filter(isMeant)
    .map(({ skill, score }) => ({ name: skill.name, score }))
    .sort((one, other) => other.score - one.score);
}

/** Each stem where it first stands. */
function firstOfEach(words: readonly Word[]): ReadonlyMap<string, Word> {
  const first = new Map<string, Word>();
  for (const word of words) if (!first.has(word.stem)) first.set(word.stem, word);
  return first;
}

/** What is wanted stands at the beginning or the end of a message, before or after what was pasted into it. */
function endsOf(text: string): string {
  return text.length <= 2 * END ? text : `${text.slice(0, END)}\n${text.slice(-END)}`;
}

const END = 2000;

function worthOf(stem: string, stems: string): number {
  const at = stems.indexOf(` ${stem} `);
  return at === -1 ? 0 : (WORTH[stems.slice(0, at).split('|').length - 1] ?? 0);
}

/** A common word counts in a name only. */
function worthInName(stem: string, stems: string): number {
  return stems.slice(0, stems.indexOf('|')).includes(` ${stem} `) ? WORTH[0] : 0;
}

/** Tells of each skill whether a text calls it one, as in `use the go skill` and `with skill go`. */
function callsFor(text: string): (skill: MatchableSkill) => boolean {
  const said = ` ${runsOf(text).join(' ')} `.replaceAll(' skills ', ' skill ');
  if (!said.includes(' skill ')) return () => false;
  return ({ name }) => {
    const called = runsOf(name).join(' ');
    return called !== '' && (said.includes(` ${called} skill `) || said.includes(` skill ${called} `));
  };
}

/** 1 for a word that one skill has, towards 0 for one that many have. */
function rarityOf(holders: number, skills: number): number {
  return holders === 0 ? 0 : Math.log(1 + skills / holders) / Math.log(1 + skills);
}

function isNamed({ stems }: MatchableSkill, spoken: ReadonlyMap<string, Word>): boolean {
  const name = stems.slice(1, stems.indexOf('|') - 1);
  return name !== '' && name.split(' ').every((stem) => spoken.has(stem));
}

/** How many words there are, where pairs of characters that overlap count once. */
function countApart(words: readonly Word[]): number {
  let count = 0;
  let end = 0;
  for (const word of [...words].sort((one, other) => one.from - other.from)) {
    if (word.from < end) continue;
    count += 1;
    end = word.to;
  }
  return count;
}
