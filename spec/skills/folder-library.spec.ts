import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { openSkills } from '../../lib/skills/index.js';
import { conversation, folderWith, NO_OVERRIDES, open, scriptedModel, settingsOf, skillFile } from './support.js';

const signal = new AbortController().signal;

describe('a library that sends all skills', () => {
  const FILES = {
    'git.md': 'Commit often.',
    'docker/SKILL.md': skillFile('docker', 'Containers.', 'Build small images.'),
  };

  it('loads them with the first message and keeps them', async () => {
    const talk = conversation(await open(folderWith(FILES)));
    expect(await talk.say('hello')).toMatchObject({ loaded: ['docker', 'git'], dropped: [], record: { matched: [] } });
    expect(await talk.say('and again')).toMatchObject({
      loaded: [],
      dropped: [],
      record: { active: ['docker', 'git'] },
    });
  });

  it('does so as long as they fit the window, even one that is learnt after the start', async () => {
    let window = 128_000;
    const options = settingsOf(folderWith({ 'git.md': 'Commit often. '.repeat(100), 'docker.md': 'Build images.' }));
    const talk = conversation(
      await openSkills({
        ...options,
        get context_window() {
          return window;
        },
      }),
    );
    expect(await talk.say('hello')).toMatchObject({ loaded: ['docker', 'git'] });
    window = 1000;
    expect(await talk.say('what is docker?')).toMatchObject({ record: { matched: ['docker'] } });
  });

  it('lists each with its name, description, path and size', async () => {
    const folder = folderWith(FILES);
    expect((await open(folder)).skills).toEqual([
      { name: 'docker', description: 'Containers.', path: join(folder, 'docker/SKILL.md'), bytes: 66 },
      { name: 'git', description: 'Commit often.', path: join(folder, 'git.md'), bytes: 13 },
    ]);
  });

  it('returns one block for each, without frontmatter, naming the folder with its other files', async () => {
    const folder = folderWith(FILES);
    const library = await open(folder);
    expect(await library.texts(['docker', 'git'], { form: 'whole', reader: 'read_file' }, signal)).toEqual([
      `<skill name="docker" folder="${join(folder, 'docker')}">\nBuild small images.\n</skill>`,
      '<skill name="git">\nCommit often.\n</skill>',
    ]);
  });

  it('leaves out a skill that was dropped by hand until it is loaded by hand', async () => {
    const talk = conversation(await open(folderWith(FILES)));
    await talk.say('hello');
    expect(await talk.say('no docker', 'ok', { pin: [], drop: ['docker'] })).toMatchObject({ dropped: ['docker'] });
    expect(await talk.say('still none')).toMatchObject({ loaded: [], record: { active: ['git'] } });
    expect(await talk.say('now', 'ok', { pin: ['docker'], drop: [] })).toMatchObject({ loaded: ['docker'] });
  });

  it('leaves out a file that has disappeared, with a warning', async () => {
    const folder = folderWith(FILES);
    const library = await open(folder);
    rmSync(join(folder, 'git.md'));
    expect(await library.texts(['git'], { form: 'whole', reader: 'read_file' }, signal)).toEqual([]);
    expect(library.warnings).toEqual([{ path: join(folder, 'git.md'), reason: 'can no longer be read (ENOENT)' }]);
  });

  it('names the nearest skill for an unknown one', async () => {
    const library = await open(folderWith(FILES));
    await expect(library.explain('dokcer', [], NO_OVERRIDES)).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining("Did you mean 'docker'"),
    });
  });
});

describe('the explanation of a skill', () => {
  const FILES = { 'git.md': 'Git commits.', 'sql.md': 'Queries.' };
  const reason = async (talk: ReturnType<typeof conversation>): Promise<string | undefined> =>
    (await talk.library.explain('git', talk.entries, NO_OVERRIDES)).split('\n')[1];

  it('contains its description, why it is in or out, its file and its whole text', async () => {
    const folder = folderWith({ 'git.md': skillFile('git', 'Commits.', 'Rebase.\n\nAlways.') });
    const library = await open(folder, { mode: 'matched' });
    expect(await library.explain('git', [], NO_OVERRIDES)).toBe(
      `git: Commits.\nOut: not matched recently. /skill git loads it.\n${join(folder, 'git.md')}\n\nRebase.\n\nAlways.\n`,
    );
  });

  it('is updated after each change', async () => {
    const talk = conversation(await open(folderWith(FILES), { mode: 'matched' }));
    await talk.say('git');
    expect(await reason(talk)).toBe('In: the newest message matches it.');
    await talk.say('hello');
    expect(await reason(talk)).toBe('In: matched one message ago; dropped after 3 messages without a match.');
    await talk.say('hello', 'Use git.');
    expect(await reason(talk)).toBe('In: matched 2 messages ago; dropped after 3 messages without a match.');
    await talk.say('hello');
    expect(await reason(talk)).toBe('In: not matched for 3 messages, but still relevant to the conversation.');
    await talk.say('so?', 'Ok.', { pin: ['git'], drop: [] });
    expect(await reason(talk)).toBe('In: loaded by hand. /skill -git drops it.');
    await talk.say('so?', 'Ok.', { pin: [], drop: ['git'] });
    expect(await reason(talk)).toBe('Out: dropped by hand. /skill git loads it.');
  });

  it('says if it made room for others', async () => {
    const files = { 'git.md': 'g'.repeat(3000), 'sql.md': 's'.repeat(3000) };
    const talk = conversation(await open(folderWith(files), { mode: 'matched', context_window: 4000 }));
    await talk.say('git');
    await talk.say('sql');
    expect(await reason(talk)).toBe('Out: matched recently, but evicted to make room for others.');
  });

  it('says if all are sent', async () => {
    const folder = folderWith(FILES);
    expect(await reason(conversation(await open(folder)))).toMatch(/^In: all skills together are small enough/);
    expect(await reason(conversation(await open(folder, { mode: 'all' })))).toMatch(/^In: every skill is sent/);
  });
});

describe('a skill with disable-model-invocation', () => {
  const FILES = {
    'git.md': 'Commit often.',
    'deploy.md': '---\ndescription: Deploys with kubernetes.\ndisable-model-invocation: True\n---\nPush.',
  };

  it.each(['all', 'auto', 'matched'] as const)(
    'is sent only if the user loads it, until they drop it (%s)',
    async (mode) => {
      const folder = folderWith(FILES);
      const known_file = join(folder, 'known.json');
      for (let start = 0; start < 2; start += 1) {
        const talk = conversation(await open(folder, { mode, known_file }));
        const active = async (wishes = NO_OVERRIDES) =>
          (await talk.say('Deploy it with kubernetes', 'Fine.', wishes)).record.active.includes('deploy');
        expect(await active()).toBe(false);
        expect(await talk.library.explain('deploy', talk.entries, NO_OVERRIDES)).toContain('disable-model-invocation');
        expect(await active({ pin: ['deploy'], drop: [] })).toBe(true);
        expect(await active()).toBe(true);
        expect(await active({ pin: [], drop: ['deploy'] })).toBe(false);
        expect(talk.library.skills.map(({ name }) => name)).toEqual(['deploy', 'git']);
      }
    },
  );

  it('is not shown to a model that chooses', async () => {
    const { make, prompts } = scriptedModel('["deploy"]');
    const talk = conversation(await open(folderWith(FILES), { mode: 'matched', matcher: 'llm', model: make }));
    expect((await talk.say('Deploy it')).record).toMatchObject({ matched: [], active: [] });
    expect(JSON.stringify(prompts)).not.toContain('kubernetes');
  });
});
