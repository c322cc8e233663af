import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * From the project's folder, where specs and benches run: bundled for a bench, this module is not where its files are.
 */
const CORPUS = 'spec/skills/corpus';

/** A message somebody might write, and the skills of the corpus it is about; none for small talk. */
export interface Sample {
  readonly text: string;
  readonly meant: readonly string[];
}

/** The messages of the corpus. */
export function samples(): readonly Sample[] {
  const lines = readFileSync(join(CORPUS, 'messages.tsv'), 'utf8').trim().split('\n');
  return lines.map((line) => {
    const [names = '', text = ''] = line.split('\t');
    return { text, meant: names === '-' ? [] : names.split(',') };
  });
}

/** Writes the skills of the corpus into a folder, each to its file. */
export function writeSkills(folder: string): void {
  const files = readFileSync(join(CORPUS, 'skills.txt'), 'utf8').split(/^=== /m).slice(1);
  for (const file of files) {
    const end = file.indexOf('\n');
    const path = join(folder, file.slice(0, end));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, file.slice(end + 1));
  }
}

/** How well the choices fit what was meant. */
export interface Score {
  /** Of the skills meant, the share that was chosen. */
  readonly recall: number;
  /** Of the skills chosen where one was meant, the share that was meant. */
  readonly precision: number;
  /** Of the small talk, the share for which nothing was chosen. */
  readonly quiet: number;
}

/** Judges what was chosen for each sample, in their order. */
export function judge(all: readonly Sample[], chosen: readonly (readonly string[])[]): Score {
  const pairs = all.map(({ meant }, index) => ({ meant, given: chosen[index] ?? [] }));
  const serious = pairs.filter(({ meant }) => meant.length > 0);
  const talk = pairs.filter(({ meant }) => meant.length === 0);
  const right = sum(serious.map(({ meant, given }) => meant.filter((name) => given.includes(name)).length));
  return {
    recall: right / sum(serious.map(({ meant }) => meant.length)),
    precision: right / sum(serious.map(({ given }) => given.length)),
    quiet: talk.filter(({ given }) => given.length === 0).length / talk.length,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
