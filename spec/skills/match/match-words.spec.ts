import { beforeAll, describe, expect, it } from '@jest/globals';
import type { FoundSkill } from '../../../lib/skills/describe.js';
import { matchWords, stemsOf } from '../../../lib/skills/match.js';
import { judge, samples, writeSkills } from '../corpus/corpus.js';
import { folderWith, NO_OVERRIDES, open } from '../support.js';

function skill(name: string, description: string, headings = '', keywords = ''): FoundSkill {
  const stems = stemsOf([name, keywords, description, headings], new Map());
  return { name, description, path: `/skills/${name}.md`, bytes: 1, folder: null, priority: 0, byHand: false, stems };
}

const SKILLS = [
  skill('git', 'Commit, branch and rebase.', 'Merge conflicts'),
  skill('docker-debugging', 'Finds out why containers exit.', 'Images\nVolumes'),
  skill('translator', 'Translates texts between languages.'),
  skill('数据库', '慢查询分析和索引设计'),
  skill('go', 'Goroutines and channels.'),
];

const names = (text: string): string[] => matchWords(SKILLS, text).map(({ name }) => name);

describe('matching by words', () => {
  it('needs no more than the name', () => {
    expect(names('how does git work')).toEqual(['git']);
    expect(names('please translate this')).toEqual(['translator']);
    expect(names('数据库怎么用')).toEqual(['数据库']);
  });

  it('accepts a name of common words only if it is called a skill', () => {
    const glue = [skill('again', 'Repeats the last deployment.')];
    expect(matchWords(glue, 'say that again')).toEqual([]);
    expect(matchWords(glue, 'use the skill again').map(({ name }) => name)).toEqual(['again']);
  });

  it('requires every significant word of the name', () => {
    expect(names('docker')).toEqual([]);
    expect(names('debugging with docker')).toEqual(['docker-debugging']);
  });

  it('or two significant words of description and headings', () => {
    expect(names('rebase')).toEqual([]);
    expect(names('rebase this branch')).toEqual(['git']);
    expect(names('索引')).toEqual([]);
    expect(names('慢查询要加索引吗')).toEqual(['数据库']);
  });

  it('counts pairs of characters that overlap once', () => {
    expect(names('慢查询')).toEqual([]);
  });

  it('does not match headings alone', () => {
    expect(names('images and volumes')).toEqual([]);
  });

  it('matches nothing by common words, not even if they are a name', () => {
    expect(names("let's go on, what do you think?")).toEqual([]);
    expect(names('go with goroutines and channels')).toEqual(['go']);
  });

  it('ranks the skill with most words in common first', () => {
    expect(names('git: why do containers exit while I commit and rebase')).toEqual(['git', 'docker-debugging']);
  });

  it('requires more words of a long text', () => {
    const story = Array.from({ length: 100 }, (_, index) => `w${index}`).join(' ');
    expect(names(`rebase branch`)).toEqual(['git']);
    expect(names(`rebase ${story} branch`)).toEqual([]);
    expect(names(`rebase ${story} branch commits merged`)).toEqual(['git']);
  });

  it('reads the beginning and the end of a very long text', () => {
    const paste = 'lorem '.repeat(2_000_000);
    expect(names(`explain git: ${paste}`)).toEqual(['git']);
    expect(names(`${paste} is that git?`)).toEqual(['git']);
  });
});

describe('skills named like common words', () => {
  const called = (text: string, ...names: readonly string[]) =>
    matchWords(
      names.map((name) => skill(name, 'About something else.')),
      text,
    ).map(({ name }) => name);

  it.each([
    ['weather', 'what is the weather in Berlin?'],
    ['weather', 'use the weather skill'],
    ['jokes', 'tell me some jokes'],
    ['jokes', 'tell me a joke'],
    ['support', 'a support request came in'],
    ['todo', 'todo: buy milk'],
    ['plan', 'a plan for next week'],
    ['sleep', 'I need more sleep'],
    ['to-do-list', 'put it on the to do list'],
    ['天气', '今天天气怎么样'],
    ['explain', 'explain how it works'],
  ])('%s is matched by %j', (name, text) => {
    expect(called(text, name, 'docker')).toEqual([name]);
  });

  it.each([
    ['go', 'use the go skill'],
    ['r', 'with skill r, please'],
    ['do-it', 'which of the do-it skills'],
  ])('%s, whose words are in every sentence, is matched if it is called a skill: %j', (name, text) => {
    expect(called(text, name, 'docker')).toEqual([name]);
  });

  it('are not matched by a sentence that lacks one of their words, nor by common words', () => {
    expect(called('buy milk', 'todo')).toEqual([]);
    expect(called('list the files', 'to-do-list')).toEqual([]);
    expect(called("let's go on, what do you think?", 'go', 'do-it')).toEqual([]);
    expect(called('which skills are there?', 'go', 'weather')).toEqual([]);
  });

  it('do not affect names that contain another word', () => {
    expect(called('my daily standup', 'daily-plan')).toEqual(['daily-plan']);
    expect(called('what is the plan?', 'daily-plan')).toEqual([]);
  });
});

describe('matching on the corpus', () => {
  const all = samples();
  let chosen: readonly (readonly string[])[] = [];

  beforeAll(async () => {
    const folder = folderWith({});
    writeSkills(folder);
    const library = await open(folder, { mode: 'matched' });
    expect(library.warnings).toEqual([]);
    expect(library.skills.length).toBeGreaterThanOrEqual(60);
    const signal = new AbortController().signal;
    const selections = all.map(({ text }) => library.select([], text, NO_OVERRIDES, signal));
    chosen = (await Promise.all(selections)).map(({ record }) => record.matched);
  });

  it('has enough messages, in several languages', () => {
    expect(all.length).toBeGreaterThanOrEqual(200);
    expect(all.filter(({ text }) => /\p{Script=Han}|\p{Script=Hangul}/u.test(text)).length).toBeGreaterThanOrEqual(30);
  });

  it('finds nine of ten wanted skills among the first three', () => {
    expect(judge(all, chosen).recall).toBeGreaterThanOrEqual(0.9);
  });

  it('loads hardly any unwanted skill', () => {
    expect(judge(all, chosen).precision).toBeGreaterThanOrEqual(0.9);
  });

  it('loads nothing for small talk', () => {
    expect(judge(all, chosen).quiet).toBeGreaterThanOrEqual(0.95);
  });
});
