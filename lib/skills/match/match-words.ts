import { everyWordOf, type SignificantWord, type Stems, significantWordsOf } from './significant-words.js';
import { FUNCTION_WORDS } from './stop-words.js';

/** What matching needs of a skill. */
export interface MatchableSkill {
  readonly name: string;
  /** The significant words of the skill, in the format of `stemsOf`. */
  readonly stems: string;
}

/** A skill that matches a text, and how well. */
export interface Match {
  readonly name: string;
  readonly score: number;
}

/** The weight of a word in a skill's name, keywords, description and headings. */
const WEIGHTS = [3, 3, 2, 1] as const;

/** The least score of a match: the weights of a description word and a heading word that no other skill has. */
const ENOUGH = 3;

/** Beyond this many significant words a message must share more words with a skill: a long paste has a few words of everything. */
const LONG_MESSAGE = 40;

/** The significant words of a skill in the format that `matchWords` reads and the cache keeps: ` name | keywords | description | headings `. */
export function stemsOf([name, ...fields]: readonly [string, string, string, string], stems: Stems): string {
  const lists = [nameWords(name, stems), ...fields.map((field) => significantWordsOf(field, stems))];
  return ` ${lists.map((words) => [...firstOfEach(words).keys()].join(' ')).join(' | ')} `;
}

/** The words of a name. Stop words count where it has no others, such as `weather` or `todo`, but function words do not. */
function nameWords(name: string, stems: Stems): readonly SignificantWord[] {
  const significant = significantWordsOf(name, stems);
  const isFunctionWords = runsOf(name).every((run) => FUNCTION_WORDS.has(run) || run.length === 1);
  return significant.length > 0 || isFunctionWords ? significant : everyWordOf(name, stems);
}

/** The words of a text in lower case, otherwise unchanged. */
const runsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{M}\p{N}+#]+/gu) ?? [];

/**
 * The skills that match a text, best first. A skill matches when the text has every significant word of its name, calls it a skill by name, or
 * shares two significant words whose scores reach `ENOUGH`; a word scores less the more skills share it. `bar` scales the threshold.
 */
export function matchWords(skills: readonly MatchableSkill[], text: string, bar = 1): readonly Match[] {
  const ends = endsOf(text);
  const every = everyWordOf(ends);
  const spoken = firstOfEach(every.filter(({ isStopWord }) => !isStopWord));
  const all = new Map([...firstOfEach(every), ...spoken]);
  const isCalled = callsFor(ends);
  const tallies = skills.map((skill) => ({ skill, score: 0, shared: [] as SignificantWord[] }));
  for (const word of all.values()) {
    const weights = skills.map(({ stems }) => (word.isStopWord ? weightInName : weightOf)(word.stem, stems));
    const rarity = rarityOf(weights.filter((weight) => weight > 0).length, skills.length);
    for (const [index, tally] of tallies.entries()) {
      const weight = weights[index] ?? 0;
      if (weight > 0) tally.shared.push(word);
      tally.score += weight * rarity;
    }
  }
  const neededWords = 2 + Math.floor(Math.log2(Math.max(1, spoken.size / LONG_MESSAGE)));
  const isMatch = ({ skill, score, shared }: (typeof tallies)[number]): boolean =>
    isCalled(skill) ||
    (shared.length > 0 && (isNamed(skill, all) || (score >= ENOUGH * bar && countApart(shared) >= neededWords)));
  return tallies
    .filter(isMatch)
    .map(({ skill, score }) => ({ name: skill.name, score }))
    .sort((one, other) => other.score - one.score);
}

/** The first occurrence of each stem. */
function firstOfEach(words: readonly SignificantWord[]): ReadonlyMap<string, SignificantWord> {
  const first = new Map<string, SignificantWord>();
  for (const word of words) if (!first.has(word.stem)) first.set(word.stem, word);
  return first;
}

/** The beginning and the end of a message: the request comes before or after what was pasted into it. */
function endsOf(text: string): string {
  return text.length <= 2 * END ? text : `${text.slice(0, END)}\n${text.slice(-END)}`;
}

const END = 2000;

function weightOf(stem: string, stems: string): number {
  const at = stems.indexOf(` ${stem} `);
  return at === -1 ? 0 : (WEIGHTS[stems.slice(0, at).split('|').length - 1] ?? 0);
}

/** A stop word counts only in a name. */
function weightInName(stem: string, stems: string): number {
  return stems.slice(0, stems.indexOf('|')).includes(` ${stem} `) ? WEIGHTS[0] : 0;
}

/** Whether a text calls a skill one, as in `use the go skill` and `with skill go`. */
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

function isNamed({ stems }: MatchableSkill, spoken: ReadonlyMap<string, SignificantWord>): boolean {
  const name = stems.slice(1, stems.indexOf('|') - 1);
  return name !== '' && name.split(' ').every((stem) => spoken.has(stem));
}

/** The number of words, counting overlapping pairs of characters once. */
function countApart(words: readonly SignificantWord[]): number {
  let count = 0;
  let end = 0;
  for (const word of [...words].sort((one, other) => one.from - other.from)) {
    if (word.from < end) continue;
    count += 1;
    end = word.to;
  }
  return count;
}
