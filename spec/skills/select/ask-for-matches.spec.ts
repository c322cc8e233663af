import { describe, expect, it } from '@jest/globals';
import type { SkillsOptions } from '../../../lib/skills/index.js';
import { conversation, folderWith, memoryCache, open, scriptedModel, skillFile } from '../support.js';

const FILES = {
  'git.md': skillFile('git', 'Commits and rebases branches.'),
  'docker.md': skillFile('docker', 'Builds images and containers.'),
  'sql.md': skillFile('sql', 'Queries and indexes.'),
};

const asking = (model: SkillsOptions['model'], options: Partial<SkillsOptions> = {}) =>
  open(folderWith(FILES), { mode: 'matched', matcher: 'llm', model, ...options });

describe('matching by the small model', () => {
  it('uses the names of its list, the best first', async () => {
    const { make, prompts } = scriptedModel('["sql", "git"]');
    const { record } = await conversation(await asking(make)).say('how do I get my work back');
    expect(record.matched).toEqual(['sql', 'git']);
    expect(prompts).toHaveLength(1);
    expect(prompts[0]?.user).toContain('git: Commits and rebases branches.');
    expect(prompts[0]?.user).toContain('how do I get my work back');
  });

  it('accepts an empty list', async () => {
    const { record } = await conversation(await asking(scriptedModel('[]').make)).say('git');
    expect(record.matched).toEqual([]);
  });

  it('finds the list in a fence or a sentence', async () => {
    const reply = 'Sure!\n```json\n["docker"]\n```\nThat should do.';
    const { record } = await conversation(await asking(scriptedModel(reply).make)).say('hm');
    expect(record.matched).toEqual(['docker']);
  });

  it('drops unknown and repeated names', async () => {
    const reply = '["nope", "git", "../../etc", 3, "git"]';
    const { record } = await conversation(await asking(scriptedModel(reply).make)).say('hm');
    expect(record.matched).toEqual(['git']);
  });

  it('is not shown skills that were dropped by hand', async () => {
    const { make, prompts } = scriptedModel('["git"]');
    const { record } = await conversation(await asking(make)).say('git', 'ok', { pin: [], drop: ['git'] });
    expect(record.matched).toEqual([]);
    expect(prompts[0]?.user).not.toContain('git: ');
  });

  it('is called once for the same question, even after a restart', async () => {
    const cache = memoryCache();
    const { make, prompts } = scriptedModel('["git"]');
    const folder = folderWith(FILES);
    for (let start = 0; start < 3; start += 1) {
      const library = await open(folder, { mode: 'matched', matcher: 'llm', model: make, cache });
      expect((await conversation(library).say('get my work back')).record.matched).toEqual(['git']);
    }
    expect(prompts).toHaveLength(1);
  });

  it('is shown the ends of a long message, and shorter descriptions if there are many', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 400 }, (_, index) => [`skill${index}.md`, skillFile(`skill${index}`, 'text '.repeat(100))]),
    );
    const { make, prompts } = scriptedModel('[]');
    const library = await open(folderWith(many), { mode: 'matched', matcher: 'llm', model: make });
    await conversation(library).say(`first ${'x'.repeat(100_000)} last`);
    expect(prompts[0]?.user.length).toBeLessThan(40_000);
    expect(prompts[0]?.user).toMatch(/skill399: text[\s\S]*first [\s\S]* last/);
  });
});

describe('matching falls back to words', () => {
  const fallsBack = async (model: SkillsOptions['model']): Promise<void> => {
    const { record } = await conversation(await asking(model)).say('git please');
    expect(record.matched).toEqual(['git']);
  };

  it('if the model fails', () => fallsBack(scriptedModel(new Error('overloaded')).make));

  it('if the model cannot be created', () => fallsBack(() => Promise.reject(new Error('no key'))));

  it('if there is no model', () => fallsBack(null));

  it.each(['', 'git', '{"names":["git"]', 'I cannot help with that.', '["git"', '[1, 2', 'null'])(
    'when the model replies %j',
    (reply) => fallsBack(scriptedModel(reply).make),
  );

  it('if the user interrupts', async () => {
    const library = await asking(scriptedModel(() => new Promise(() => undefined)).make);
    const controller = new AbortController();
    const selection = library.select([], 'git please', { pin: [], drop: [] }, controller.signal);
    controller.abort();
    expect((await selection).record.matched).toEqual(['git']);
  });

  it('if the model takes longer than five seconds, even if it ignores the abort', async () => {
    const limits: number[] = [];
    const timeout = AbortSignal.timeout;
    AbortSignal.timeout = (milliseconds) => {
      limits.push(milliseconds);
      return timeout.call(AbortSignal, 1);
    };
    try {
      await fallsBack(scriptedModel(() => new Promise(() => undefined)).make);
    } finally {
      AbortSignal.timeout = timeout;
    }
    expect(limits).toEqual([5000]);
  });

  it('and does not cache a failure', async () => {
    const cache = memoryCache();
    const library = await asking(scriptedModel('not a list').make, { cache });
    await conversation(library).say('git please');
    expect(cache.stored.size).toBe(0);
  });
});
