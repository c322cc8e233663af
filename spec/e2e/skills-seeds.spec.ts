import { describe, expect, it } from '@jest/globals';
import type { Reply, SentRequest } from '../support/scripted-server.js';
import { howTo, MATCHED, skilled, systemOf } from '../support/skilled.js';

describe('seed 001, 6. Skills system', () => {
  const SKILLS = { 'coding-assistant.md': 'Write tests first.', 'translator.md': 'Keep the tone.', 'notes.txt': 'No.' };

  it('Each .md file is one skill, filename (without extension) is skill name', async () => {
    await using chat = await skilled({ skills: SKILLS });
    const { skills } = JSON.parse((await chat.hi('skills', '--json')).stdout);
    expect(skills.map(({ name }: { name: string }) => name)).toEqual(['coding-assistant', 'translator']);
  });

  it('File content is the skill instruction/prompt, appended after preamble', async () => {
    await using chat = await skilled({ skills: SKILLS, config: { preamble: 'You are kind.' } });
    await chat.ask('hello');
    const system = systemOf(chat.asked()[0]);
    expect(system).toMatch(/^You are kind\.[\s\S]*Write tests first\.[\s\S]*Keep the tone\./);
    expect(system).not.toContain('No.');
  });

  it('Skills reload timing: skills are loaded once at startup, app restart required for updates', async () => {
    await using chat = await skilled({
      skills: { 'a.md': 'The old text.' },
      answer: () => {
        chat.put('a.md', 'The new text.');
        chat.put('b.md', 'One more.');
        return { text: 'Fine.' };
      },
    });
    await chat.chat('hello', 'hello again');
    await chat.ask('and again');
    const [first, second, third] = chat.asked().map(systemOf);
    expect(first).toContain('The old text.');
    expect(second).toBe(first);
    expect(third).toContain('The new text.');
    expect(third).toContain('One more.');
  });
});

/** A skill of about 3000 tokens, and what the small model makes of it. */
const LARGE = `${howTo('git')}\n\n## Examples\n\n${'An example. '.repeat(1000)}`;
const SHORT = `${howTo('git')} In short.`;
const SMALL = { skills: { 'git.md': LARGE, 'sql.md': howTo('sql') } };
/** The large skill takes three quarters of the window, so that a message of some length passes the threshold. */
const CROWDED = {
  context_window: 4300,
  small_model: { model: 'small', context_window: 100_000 },
  skills: { mode: 'all' },
  tools: { enabled: false },
};
const LONG_MESSAGE = 'word '.repeat(700);

const isCompression = ({ messages }: SentRequest): boolean => JSON.stringify(messages).includes('Shorten the file');
const shortens = (request: SentRequest): Reply => ({ text: isCompression(request) ? SHORT : 'Fine.' });

/** What a server reports of a request. */
const sizeOf = ({ messages }: SentRequest): number =>
  Math.ceil(messages.map(({ content }) => String(content)).join('').length / 4);

describe('seed 003, compression of skills content', () => {
  it('Compress Skills content at threshold: large ones go to the small model at 80 %, not before', async () => {
    await using chat = await skilled({ ...SMALL, config: CROWDED, answer: shortens });
    await chat.ask('hello');
    expect(chat.requests.filter(isCompression)).toHaveLength(0);
    expect(systemOf(chat.asked()[0])).toContain('An example.');
    await chat.ask(LONG_MESSAGE);
    const [compression, ...more] = chat.requests.filter(isCompression);
    expect(more).toEqual([]);
    expect(compression?.model).toBe('small');
    expect(JSON.stringify(compression?.messages)).toContain('An example. An example.');
    expect(JSON.stringify(compression?.messages)).not.toContain(howTo('sql'));
  });

  it('Compress Skills content at threshold: also if the skills alone exceed it', async () => {
    const config = { ...CROWDED, context_window: 3600 };
    await using chat = await skilled({ ...SMALL, config, answer: shortens });
    const { stderr } = await chat.chat('hello', 'hello again');
    expect(stderr).toBe('skills: +git +sql\n');
    expect(chat.requests.filter(isCompression)).toHaveLength(1);
    for (const request of chat.asked()) expect(systemOf(request)).toContain(SHORT);
  });

  it('Compress Skills content at threshold: also if only the provider reports it', async () => {
    const error = { message: 'This is too much.', code: 'context_length_exceeded' };
    const answer = (request: SentRequest): Reply =>
      systemOf(request).includes('An example.') ? { status: 400, error } : shortens(request);
    await using chat = await skilled({ ...SMALL, config: { ...CROWDED, context_window: 100_000 }, answer });
    expect(await chat.ask('hello')).toMatchObject({ status: 0, stdout: 'Fine.\n' });
    expect(chat.asked()).toHaveLength(2);
    expect(systemOf(chat.asked()[1])).toContain(SHORT);
  });

  it('LLM compresses Skills content: the shorter form is sent, and takes fewer tokens', async () => {
    await using chat = await skilled({ ...SMALL, config: CROWDED, answer: shortens });
    await chat.chat('hello', LONG_MESSAGE);
    const [before = '', after = ''] = chat.asked().map(systemOf);
    expect(after).toContain(SHORT);
    expect(after).not.toContain('An example.');
    expect(after).toContain(howTo('sql'));
    expect(after.length).toBeLessThan(before.length / 2);
  });

  it('LLM compresses Skills content: the saved tokens count at once if the server reports usage', async () => {
    const answer = (request: SentRequest): Reply => ({ ...shortens(request), usage: [sizeOf(request), 5] });
    await using chat = await skilled({ ...SMALL, config: CROWDED, answer });
    const { stderr } = await chat.chat('one', 'two', 'three', 'four', 'five', LONG_MESSAGE, 'six');
    expect(chat.requests.filter(isCompression)).toHaveLength(1);
    expect(stderr).toBe('skills: +git +sql\n');
    expect(
      chat
        .asked()
        .at(-1)
        ?.messages.map(({ content }) => content),
    ).toContain('one');
  });

  it('LLM compresses Skills content: hi status counts what is sent, without calling a model', async () => {
    await using chat = await skilled({ ...SMALL, config: CROWDED, answer: shortens });
    const status = async () => JSON.parse((await chat.hi('status', '--json')).stdout);
    await chat.ask('hello');
    expect((await status()).context_tokens).toBeGreaterThan(3000);
    await chat.ask(LONG_MESSAGE);
    const { context_tokens, estimated_tokens } = await status();
    expect(estimated_tokens).toBeGreaterThan(875);
    expect(context_tokens).toBeLessThan(estimated_tokens + 100);
    expect(chat.requests.filter(isCompression)).toHaveLength(1);
  });

  it('Preserve essential Skills information, Compression prompt includes instructions: the ratio, what to keep, what to remove', async () => {
    await using chat = await skilled({ ...SMALL, config: CROWDED, answer: shortens });
    await chat.ask(LONG_MESSAGE);
    const prompt = JSON.stringify(chat.requests.find(isCompression)?.messages);
    expect(prompt).toMatch(/about 50%/);
    expect(prompt).toMatch(
      /Keep:.*instructions.*key examples.*important context.*Remove:.*redundant explanation.*outdated.*irrelevant/,
    );
  });

  it('Cache compression results, Use cached compression: one text is compressed once, also after a restart and in another conversation', async () => {
    await using chat = await skilled({ ...SMALL, config: CROWDED, answer: shortens });
    await chat.chat(LONG_MESSAGE, 'and again');
    await chat.ask('after a restart');
    await chat.hi('reset', '-y');
    await chat.ask(LONG_MESSAGE);
    expect(systemOf(chat.asked().at(-1))).toContain(SHORT);
    expect(chat.requests.filter(isCompression)).toHaveLength(1);
  });

  it('Cache compression results: the key is the content, so that an edited skill is compressed again', async () => {
    await using chat = await skilled({ ...SMALL, config: CROWDED, answer: shortens });
    await chat.ask(LONG_MESSAGE);
    chat.put('git.md', `${LARGE} And one more.`);
    await chat.ask(LONG_MESSAGE);
    expect(chat.requests.filter(isCompression)).toHaveLength(2);
  });

  it('LLM returns structured compression: the text is taken out of a fence', async () => {
    const answer = (request: SentRequest): Reply => ({
      text: isCompression(request) ? `\`\`\`markdown\n${SHORT}\n\`\`\`` : 'Fine.',
    });
    await using chat = await skilled({ ...SMALL, config: CROWDED, answer });
    await chat.ask(LONG_MESSAGE);
    expect(systemOf(chat.asked()[0])).toContain(`>\n${SHORT}\n<`);
  });

  const FAILURES = {
    'API error': { status: 400 },
    'empty response': { text: '' },
    'cut off': { text: 'How to', finish: 'length' },
    'no shorter': { text: `${LARGE}.` },
  };

  it.each(Object.entries(FAILURES))(
    'where it fails, %s: the skill is cut, and the model is told where the whole text is',
    async (_, reply) => {
      const answer = (request: SentRequest): Reply => (isCompression(request) ? reply : { text: 'Fine.' });
      await using chat = await skilled({ ...SMALL, config: CROWDED, answer });
      const { stdout, stderr } = await chat.hi('ask', '--tools', 'read_file', LONG_MESSAGE);
      expect(stdout.trim()).toBe('Fine.');
      expect(stderr).toContain("The skill 'git' could not be compressed");
      const system = systemOf(chat.asked()[0]);
      expect(system).toContain(howTo('git'));
      expect(system).toContain(chat.place('git.md'));
      expect(system.length).toBeLessThan(0.6 * LARGE.length);
    },
  );
});

describe('seed 003, dynamic skills management during conversation', () => {
  it('Track Skills usage: when each skill was last matched, and how often, is in the history', async () => {
    await using chat = await skilled({ config: MATCHED });
    await chat.ask('git please');
    await chat.ask('thanks');
    expect(chat.records()).toMatchObject([
      { matched: ['git'], active: ['git'], standing: { git: { uses: 1, idle: 0 } } },
      { matched: [], active: ['git'], standing: { git: { idle: 1 } } },
    ]);
  });

  it('Load new Skills on each query: newly matched skills are sent, with a line on the screen', async () => {
    await using chat = await skilled({ config: MATCHED });
    expect((await chat.ask('git please')).stderr).toContain('skills: +git\n');
    expect((await chat.ask('and docker')).stderr).toContain('skills: +docker\n');
    expect(chat.sent()).toEqual([['git'], ['git', 'docker']]);
  });

  it('Evict irrelevant Skills: what was not matched in the last three queries is no longer sent', async () => {
    await using chat = await skilled({ config: MATCHED });
    const { stderr } = await chat.chat('git please', 'hello', 'how are you', 'tell me a joke', 'another');
    expect(chat.sent()).toEqual([['git'], ['git'], ['git'], [], []]);
    expect(systemOf(chat.asked().at(-1))).toBe('');
    expect(stderr).toContain('skills: -git\n');
  });

  it('Evict irrelevant Skills: N is configurable', async () => {
    await using chat = await skilled({ config: { skills: { mode: 'matched', evict_after: 1 } } });
    await chat.chat('git please', 'hello', 'git again');
    expect(chat.sent()).toEqual([['git'], [], ['git']]);
  });

  it('Keep Skills relevant to current conversation: though no query matches it, the answers are about it', async () => {
    await using chat = await skilled({ config: MATCHED, answer: () => ({ text: 'Run git rebase.' }) });
    await chat.chat('git please', 'and then?', 'and then?', 'and then?', 'and then?');
    expect(chat.sent()).toEqual([['git'], ['git'], ['git'], ['git'], ['git']]);
  });

  /** 280 tokens with a priority: in a window of 4000 there is room for two. */
  const large = (name: string, priority: number): string =>
    `---\npriority: ${priority}\n---\n${howTo(name)}${' Carefully.'.repeat(100)}`;
  const ROOM_FOR_TWO = {
    skills: Object.fromEntries(['git', 'docker', 'sql'].map((name) => [`${name}.md`, large(name, 0)])),
    config: { context_window: 4000 },
  };

  it('Prioritize Skills by usage: the frequently used before the recently used', async () => {
    await using chat = await skilled(ROOM_FOR_TWO);
    await chat.chat('git please', 'git again', 'docker please', 'sql please');
    expect(chat.sent()).toEqual([['git'], ['git'], ['git', 'docker'], ['git', 'sql']]);
  });

  it('Prioritize Skills by usage: the recently used before the others', async () => {
    await using chat = await skilled(ROOM_FOR_TWO);
    await chat.chat('git please', 'docker please', 'sql please');
    expect(chat.sent()).toEqual([['git'], ['git', 'docker'], ['sql', 'docker']]);
  });

  it('Prioritize Skills by usage: those of low priority go first where usage is the same', async () => {
    const skills = { 'docker.md': large('docker', -1), 'git.md': large('git', 0), 'sql.md': large('sql', 1) };
    await using chat = await skilled({ ...ROOM_FOR_TWO, skills });
    await chat.chat('git, docker and sql please', 'thanks');
    expect(chat.sent()).toEqual([
      ['sql', 'git', 'docker'],
      ['sql', 'git'],
    ]);
  });
});
