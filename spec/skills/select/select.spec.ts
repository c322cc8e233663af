import { describe, expect, it } from '@jest/globals';
import type { Entry } from '../../../lib/chat/entry.js';
import type { SkillsOptions } from '../../../lib/skills/index.js';
import fc from '../../support/properties.js';
import { conversation, folderWith, NO_OVERRIDES, open, skillFile } from '../support.js';

const FILES = {
  'git.md': skillFile('git', 'Commits and rebases branches.'),
  'docker/SKILL.md': skillFile('docker', 'Builds images and containers.'),
  'sql.md': skillFile('sql', 'Queries and indexes.'),
  'css.md': skillFile('css', 'Layout with flexbox.'),
};

const matched = (options: Partial<SkillsOptions> = {}, files: Readonly<Record<string, string>> = FILES) =>
  open(folderWith(files), { mode: 'matched', ...options });

describe('dynamic skills management', () => {
  it('tracks skills usage: when a skill was last matched, and how often', async () => {
    const talk = conversation(await matched());
    await talk.say('git please');
    await talk.say('git again');
    const { record } = await talk.say('thanks');
    expect(record.matched).toEqual([]);
    expect(record.standing).toEqual({ git: { uses: expect.closeTo(1.9, 1), idle: 1 } });
  });

  it('loads new skills on each query', async () => {
    const talk = conversation(await matched());
    expect(await talk.say('git please')).toMatchObject({ loaded: ['git'], dropped: [], record: { active: ['git'] } });
    expect(await talk.say('and docker')).toMatchObject({ loaded: ['docker'], record: { active: ['git', 'docker'] } });
  });

  it('evicts irrelevant skills: not matched in the last three queries', async () => {
    const talk = conversation(await matched());
    await talk.say('git please');
    expect((await talk.say('hello')).record.active).toEqual(['git']);
    expect((await talk.say('how are you')).record.active).toEqual(['git']);
    expect(await talk.say('a joke please')).toMatchObject({ dropped: ['git'], record: { active: [] } });
  });

  it('evicts after the configured number of queries', async () => {
    const talk = conversation(await matched({ evict_after: 1 }));
    await talk.say('git please');
    expect(await talk.say('a joke please')).toMatchObject({ dropped: ['git'] });
  });

  it('counts again from zero when a skill is matched again', async () => {
    const talk = conversation(await matched());
    for (const text of ['git please', 'hello', 'how are you', 'git again', 'thanks', 'hello again']) {
      expect((await talk.say(text)).record.active).toEqual(['git']);
    }
    expect((await talk.say('a joke please')).record.active).toEqual([]);
  });

  it('keeps skills relevant to the current conversation, even if not matched in the current query', async () => {
    const talk = conversation(await matched());
    await talk.say('git please');
    await talk.say('what then?', 'Rebase the branch.');
    await talk.say('and then?', 'Merge the branch after the rebase.');
    expect(await talk.say('why?')).toMatchObject({ dropped: [], record: { active: ['git'], held: ['git'] } });
    expect(await talk.say('I see', 'Good.')).toMatchObject({ record: { held: ['git'] } });
    expect(await talk.say('a joke please')).toMatchObject({ dropped: ['git'] });
  });

  it('keeps a skill whose folder a tool accessed', async () => {
    const library = await matched();
    const talk = conversation(library);
    await talk.say('docker please');
    await talk.say('go on');
    const folder = library.skills.find(({ name }) => name === 'docker')?.path.replace('/SKILL.md', '');
    const args = { path: `${folder}/references/compose.md` };
    await talk.say('go on', 'Fine.', NO_OVERRIDES, [{ type: 'tool_call', call_id: 'c1', name: 'read_file', args }]);
    expect(await talk.say('go on')).toMatchObject({ dropped: [], record: { held: ['docker'] } });
  });

  it('treats half a match as a sign that a skill is still needed', async () => {
    const files = { ...FILES, 'git.md': skillFile('git', 'Commits.', '# git\n\n## Bisecting\n\n## Worktrees\n') };
    const words = 'Try bisecting in one of the worktrees.';
    expect((await conversation(await matched({}, files)).say(words)).record.matched).toEqual([]);
    const talk = conversation(await matched({}, files));
    await talk.say('git please');
    await talk.say('what then?');
    await talk.say('and then?', words);
    expect((await talk.say('why?')).record).toMatchObject({ active: ['git'], held: ['git'] });
  });

  it('does not treat the words that matched it as a sign that it is still needed', async () => {
    const talk = conversation(await matched({ evict_after: 1 }));
    await talk.say('git: commit and rebase', 'Commit and rebase.');
    expect((await talk.say('a joke please')).record.active).toEqual([]);
  });

  it('prioritizes skills by usage: frequently used over recently used over low-priority skills', async () => {
    const body = 'word '.repeat(300);
    const library = await matched(
      { context_window: 6000 },
      {
        'apple.md': skillFile('apple', 'x', body),
        'plum.md': skillFile('plum', 'x', body),
        'cherry.md': `---\npriority: 5\n---\n${body}`,
        'lemon.md': `---\npriority: -1\n---\n${body}`,
      },
    );
    const talk = conversation(library);
    await talk.say('apple and lemon');
    await talk.say('apple');
    // Two fit. What is matched now comes in, and of the others the one used twice stays.
    expect((await talk.say('plum')).record.active).toEqual(['apple', 'plum']);
    // Used equally often and recently, the priority of the file decides.
    const other = conversation(library);
    await other.say('lemon, plum, cherry');
    expect((await other.say('hello')).record.active).toEqual(['cherry', 'plum']);
  });

  it('loads the best three by default, or the configured number', async () => {
    const text = 'git, docker, sql and css';
    expect((await conversation(await matched()).say(text)).record.active).toHaveLength(3);
    expect((await conversation(await matched({ top_k: 1 })).say(text)).record.active).toHaveLength(1);
  });

  it('loads what a message is about even above the budget, and then drops others to keep to it', async () => {
    const files = { 'git.md': 'g'.repeat(5000), 'sql.md': 's'.repeat(5000) };
    const talk = conversation(await matched({ context_window: 4000 }, files));
    expect((await talk.say('git and sql')).record.active).toEqual(['git', 'sql']);
    expect((await talk.say('hello')).record.active).toEqual(['git']);
    expect((await talk.say('how are you')).record.active).toEqual(['git']);
  });

  it('forgets undone turns', async () => {
    const library = await matched();
    const talk = conversation(library);
    const first = await talk.say('git please');
    await talk.say('and docker');
    talk.entries.push({ type: 'undo', id: 5, at: '2026-11-22T10:00:00.000Z', turns: [3] });
    expect(await talk.say('and docker')).toMatchObject({ loaded: ['docker'] });
    expect(first.record.standing).toEqual({ git: { uses: 1, idle: 0 } });
  });
});

describe('skills loaded or dropped by hand', () => {
  it('stay when loaded, whatever the conversation is about', async () => {
    const talk = conversation(await matched());
    expect(await talk.say('hi', 'ok', { pin: ['css'], drop: [] })).toMatchObject({
      loaded: ['css'],
      record: { pinned: ['css'], active: ['css'] },
    });
    for (let turn = 0; turn < 50; turn += 1) await talk.say('hello');
    expect((await talk.say('hello')).record.active).toEqual(['css']);
  });

  it('stay away when dropped, even if matched, until loaded by hand', async () => {
    const talk = conversation(await matched());
    await talk.say('git please');
    expect(await talk.say('git', 'ok', { pin: [], drop: ['git'] })).toMatchObject({
      dropped: ['git'],
      record: { dropped: ['git'], matched: [] },
    });
    for (let turn = 0; turn < 50; turn += 1) await talk.say('hello');
    expect((await talk.say('git')).record.active).toEqual([]);
    expect((await talk.say('now', 'ok', { pin: ['git'], drop: [] })).record.active).toEqual(['git']);
  });

  it('are skipped if there is no such skill', async () => {
    const { record } = await conversation(await matched()).say('hi', 'ok', { pin: ['nope'], drop: ['neither'] });
    expect(record).toEqual({ matched: [], active: [] });
  });
});

describe('auto mode', () => {
  it('sends all skills while together they fit their share of the window', async () => {
    const files = { 'git.md': 'g'.repeat(2000), 'sql.md': 's'.repeat(2000) };
    const at = async (context_window: number) => {
      const library = await open(folderWith(files), { context_window, budget_ratio: 0.1 });
      return (await conversation(library).say('git please')).record.active;
    };
    expect(await at(10_000)).toEqual(['git', 'sql']);
    expect(await at(9_999)).toEqual(['git']);
  });

  it('counts characters, not bytes', async () => {
    const library = await open(folderWith({ 'a.md': '漢'.repeat(4000) }), {
      context_window: 10_000,
      budget_ratio: 0.1,
    });
    expect((await conversation(library).say('hello')).record.active).toEqual(['a']);
  });
});

describe('a folder that has outgrown its share', () => {
  it('keeps of the skills sent before only those that the message or the conversation is about', async () => {
    const folder = folderWith(FILES);
    const talk = conversation(await open(folder));
    await talk.say('hello');
    await talk.say('css please', 'Rebase the branch.');
    talk.library = await open(folder, { mode: 'matched' });
    const { record, dropped } = await talk.say('docker please');
    expect(record).toMatchObject({ matched: ['docker'], held: ['css', 'git'], active: ['css', 'docker', 'git'] });
    expect(dropped).toEqual(['sql']);
  });
});

describe('the state of skills', () => {
  const TEXTS = ['git', 'docker', 'sql and git', 'css', 'hello', 'why?', 'rebase the branch', 'thanks'];

  it('is in the log alone: a restart before every message changes nothing', async () => {
    const folder = folderWith(FILES);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...TEXTS), { maxLength: 12 }), async (texts) => {
        const one = conversation(await open(folder, { mode: 'matched' }));
        const many = conversation(await open(folder, { mode: 'matched' }));
        for (const text of texts) {
          many.library = await open(folder, { mode: 'matched' });
          expect(await many.say(text, text)).toEqual(await one.say(text, text));
        }
      }),
      { numRuns: 25 },
    );
  });

  it('survives a compaction that leaves the newest messages only', async () => {
    const library = await matched();
    const newest = (entries: readonly Entry[]): readonly Entry[] => entries.slice(-4);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...TEXTS), { maxLength: 20 }), async (texts) => {
        const whole = conversation(library);
        const compacted = conversation(library, newest);
        for (const text of texts) expect(await compacted.say(text, text)).toEqual(await whole.say(text, text));
      }),
      { numRuns: 50 },
    );
  });
});
