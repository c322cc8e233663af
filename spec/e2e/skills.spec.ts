import { rmSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Reply, SentRequest } from '../support/scripted-server.js';
import {
  howTo,
  MATCHED,
  type Skilled,
  skilled,
  skillFile,
  skillsOf,
  standingOf,
  systemOf,
} from '../support/skilled.js';
import { control, KEY } from '../support/terminal.js';

describe('skills', () => {
  it('may be folders, whose path the model is told', async () => {
    await using chat = await skilled();
    chat.put('git/references/flow.md', 'beside');
    await chat.ask('hello');
    expect(systemOf(chat.asked()[0])).toContain(chat.place('git'));
    expect(chat.sent()).toEqual([['docker', 'git', 'sql']]);
  });

  it('may refer to files next to them, which the model may read if nobody can be asked', async () => {
    const answer = (_: SentRequest, index: number): Reply => {
      const call = (path: string) => ({ name: 'read_file', args: { path } });
      const calls = [call(chat.place('git/references/flow.md')), call(chat.home.configFile)];
      return index === 0 ? { calls } : { text: 'Fine.' };
    };
    await using chat = await skilled({ answer });
    chat.put('git/references/flow.md', 'Branch first.');
    await chat.ask('hello');
    const [beside, elsewhere] = (chat.asked()[1]?.messages ?? []).slice(-2).map(({ content }) => content);
    expect(beside).toContain('Branch first.');
    expect(elsewhere).not.toContain('api_base');
  });

  it('are explained relative to the window of the model, in the chat and outside', async () => {
    const skills = { ...skillsOf('git'), 'large.md': 'How to do much. '.repeat(1000) };
    await using chat = await skilled({ skills, config: { model: 'gpt-4' } });
    const { stdout } = await chat.chat('hello', '/skills git');
    expect(stdout).toContain('\nOut: not matched recently.');
    expect(stdout).toContain((await chat.hi('skills', 'git')).stdout);
  });

  it('cannot send control characters to the terminal that lists them', async () => {
    const text = '---\ndescription: "\\e[31mred \\x9b2J"\n---\nText.';
    await using chat = await skilled({ skills: { 'red.md': text, '\u001b[31m.md': 'Text.' } });
    for (const args of [['skills'], ['config', 'check']]) {
      const { stdout, stderr } = await chat.hi(...args);
      expect(stdout + stderr).toContain('[31m');
      expect(stdout + stderr).not.toMatch(/[\u001b\u009b]/);
    }
  });
});

describe('broken skills', () => {
  /** Files of a skills folder, each with what is said of it. */
  const BROKEN: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
    [
      'odd/SKILL.md',
      '---\nname: odd\ndescription: a: b\n---\nHow to use odd.',
      /^line 3: the frontmatter is not valid YAML/,
    ],
    ['image.md', Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0, 1, 2), /^is binary; left out$/],
    ['sql/SKILL.md', skillFile('sql'), /^the name 'sql' is already used by .*SQL\.md; left out$/],
    ['empty.md', '', /^is empty; left out$/],
    ['evil/SKILL.md', '---\nname: ../../evil\n---\nHow to use evil.', /^invalid name '..\/..\/evil'/],
    ['huge.md', 'How to use huge. '.repeat(100_000), /^is too large \(1700000 bytes/],
  ];
  const LINKS = ['loop.md', 'out.md'];
  const NAMES = ['sql', 'docker', 'git', 'odd'];

  async function withBroken(): Promise<Skilled> {
    const files = Object.fromEntries(BROKEN.map(([file, content]) => [file, content]));
    const chat = await skilled({ skills: { ...skillsOf('docker', 'git'), 'SQL.md': howTo('sql'), ...files } });
    symlinkSync('loop.md', chat.place('loop.md'));
    symlinkSync(chat.home.configFile, chat.place('out.md'));
    return chat;
  }

  it('are listed with a warning each, and the others are found', async () => {
    await using chat = await withBroken();
    const { stdout } = await chat.hi('skills', '--json');
    const listed: { skills: { name: string }[]; warnings: { path: string; reason: string }[] } = JSON.parse(stdout);
    expect(listed.skills.map(({ name }) => name)).toEqual(['SQL', 'docker', 'git', 'odd']);
    const reasons = new Map(listed.warnings.map(({ path, reason }) => [path, reason]));
    for (const [file, , reason] of BROKEN)
      expect([file, reasons.get(chat.place(file))]).toEqual([file, expect.stringMatching(reason)]);
    expect(reasons.get(chat.place('loop.md'))).toBe('cannot be read (ELOOP); left out');
    expect(reasons.get(chat.place('out.md'))).toBe(
      'is a link to a place outside the skills folder; copy the file instead; left out',
    );
    expect(listed.warnings).toHaveLength(BROKEN.length + LINKS.length);
  });

  it('cause one warning in a chat, and do not keep the others from being sent', async () => {
    await using chat = await withBroken();
    const { stderr, status } = await chat.chat('hello', 'hello again');
    expect(status).toBe(0);
    for (const file of [...BROKEN.map(([name]) => name), ...LINKS]) {
      expect(stderr.split(`skill ${chat.place(file)}: `)).toHaveLength(2);
    }
    expect(chat.sent()).toEqual([NAMES, NAMES]);
    expect(systemOf(chat.asked()[0])).not.toContain('api_base');
  });
});

describe('files that are skills except for their names', () => {
  const MISNAMED: readonly (readonly [file: string, listed: string, reason: string])[] = [
    ['F.MD', 'F.MD', 'its extension is .MD, not .md'],
    ['notes.markdown', 'notes.markdown', 'its extension is .markdown, not .md'],
    ['work/review.md', 'work', 'has no SKILL.md, only review.md. A skill is NAME.md or NAME/SKILL.md'],
    ['pack/pdf/SKILL.md', 'pack', 'has no SKILL.md, only pdf/SKILL.md.'],
    ['lower/skill.md', 'lower', 'its file is named skill.md, not SKILL.md'],
  ];
  const OTHERS = ['LICENSE', 'notes.txt', '.hidden.MD', '.git/x.md', 'pictures/one.png', 'git/reference/more.md'];

  it('are listed with the reason by hi skills, /skills and hi config check', async () => {
    const files = Object.fromEntries([...MISNAMED.map(([file]) => file), ...OTHERS].map((file) => [file, howTo('x')]));
    await using chat = await skilled({ skills: { ...skillsOf('git'), ...files } });
    const { warnings } = JSON.parse((await chat.hi('skills', '--json')).stdout);
    expect(warnings.map(({ path }: { path: string }) => path).sort()).toEqual(
      MISNAMED.map(([, listed]) => chat.place(listed)).sort(),
    );
    const says = [
      (await chat.hi('skills')).stderr,
      (await chat.chat('/skills')).stderr,
      (await chat.hi('config', 'check')).stdout,
    ];
    for (const [, listed, reason] of MISNAMED)
      for (const said of says)
        expect(said.split('\n').find((line) => line.includes(chat.place(listed)))).toContain(reason);
  });

  it('are only counted if a folder contains many, also behind a link', async () => {
    await using chat = await skilled({ skills: { 'work/a.md': 'A', 'work/b.md': 'B', 'work/deeper/c.md': 'C' } });
    chat.home.write('elsewhere.md', 'E');
    symlinkSync(chat.home.work, chat.place('linked'));
    const { stderr } = await chat.hi('skills');
    expect(stderr).toContain('has no SKILL.md, only a.md and 2 more.');
    expect(stderr).toContain(`skill ${chat.place('linked')}: has no SKILL.md, only elsewhere.md.`);
  });
});

describe('skills loaded and dropped by hand', () => {
  it('stay so', async () => {
    await using chat = await skilled({ config: MATCHED });
    await chat.chat('/skill sql', 'hello', 'hello', 'hello', 'hello', '/skill -sql', 'hello', 'sql please');
    expect(chat.sent()).toEqual([['sql'], ['sql'], ['sql'], ['sql'], [], []]);
  });

  it('follow the last command', async () => {
    await using chat = await skilled({ config: MATCHED });
    await chat.chat('/skill sql', '/skill -sql', 'hello', '/skill -git', '/skill git', 'hello');
    expect(chat.sent()).toEqual([[], ['git']]);
  });

  it('stay so if the message they came with is retried or undone', async () => {
    await using chat = await skilled({ config: MATCHED });
    await chat.chat('/skill sql', 'hello', '/retry', '/undo', 'hello', '/skill -sql', 'hello', '/undo', 'sql please');
    expect(chat.sent()).toEqual([['sql'], ['sql'], ['sql'], [], []]);
  });

  it('stay so if the message they came with could not be sent', async () => {
    const answer = (_: SentRequest, index: number): Reply => (index === 0 ? { status: 401 } : { text: 'Fine.' });
    await using chat = await skilled({ config: MATCHED, answer });
    await chat.chat('/skill sql', 'hello', 'hello');
    expect(chat.sent()).toEqual([['sql'], ['sql']]);
  });

  it('are sent in the plainest form too, like everything that the user set, now and later', async () => {
    const answer = ({ tools, messages }: SentRequest): Reply =>
      tools || messages.some(({ role }) => role !== 'user' && role !== 'assistant')
        ? { status: 400, error: { message: 'Bad Request' } }
        : { text: 'Fine.' };
    await using chat = await skilled({ config: { ...MATCHED, preamble: 'Be brief.' }, answer });
    await chat.hi('remember', 'My cat is Tom.');
    const { status, stderr } = await chat.chat('/skill sql', 'hello', 'hello again', 'hello once more');
    expect(status).toBe(0);
    expect(stderr).toContain(
      "'scripted' refused the request: it answers without tools, a system message. (Bad Request.)",
    );
    // A refusal without a word about its cause is believed from the second time on.
    expect(chat.sent()).toEqual([['sql'], ['sql'], ['sql'], ['sql'], ['sql']]);
    const plain = chat.asked().filter(({ messages }) => messages[0]?.role === 'user');
    expect(plain).toHaveLength(3);
    for (const request of plain) {
      expect(standingOf(request)).toMatch(/Be brief\.[\s\S]*My cat is Tom\.[\s\S]*How to use sql\.[\s\S]*hello/);
    }
  });

  it('are explained before they are loaded or dropped', async () => {
    await using chat = await skilled({ config: MATCHED });
    const commands = ['/skills sql', '/skill sql', '/skills sql', 'hello', '/skills sql', '/skill -sql', '/skills sql'];
    const { stdout } = await chat.chat(...commands);
    expect(stdout.split('\n').filter((line) => /^(?:In|Out|Loaded|Dropped)\b/.test(line))).toEqual([
      'Out: not matched recently. /skill sql loads it.',
      'Loaded by hand: it is sent with the next message. /skill -sql drops it.',
      'In: loaded by hand. /skill -sql drops it.',
      'Dropped by hand: it is not sent with the next message. /skill sql loads it.',
    ]);
  });

  it('are not affected by a compaction', async () => {
    await using chat = await skilled({ config: { ...MATCHED, compaction: { strategy: 'truncate' } } });
    await chat.chat('/skill sql', 'git please', 'hello', '/compact', 'hello', 'tell me a joke');
    expect(chat.sent()).toEqual([['sql', 'git'], ['sql', 'git'], ['sql', 'git'], ['sql']]);
  });

  it('are listed and counted also after a compaction that keeps no message', async () => {
    await using chat = await skilled({ config: MATCHED });
    await chat.chat('/skill sql', 'hello');
    const before = JSON.parse((await chat.hi('status', '--json')).stdout);
    await chat.hi('compact', '--strategy', 'replace');
    const after = JSON.parse((await chat.hi('status', '--json')).stdout);
    expect(after.context_tokens - after.estimated_tokens).toBe(before.context_tokens - before.estimated_tokens);
    expect((await chat.chat('/skills')).stdout).toContain('+ sql');
  });
});

describe('skills whose files change while a chat runs', () => {
  it('that vanish before they are read are not reported as sent, and cause a warning at once', async () => {
    const answer = (): Reply => {
      rmSync(chat.place('sql'), { recursive: true, force: true });
      return { text: 'Fine.' };
    };
    await using chat = await skilled({ config: MATCHED, answer });
    const { stderr, stdout, status } = await chat.chat(
      'git please',
      'git and sql please',
      '/skills sql',
      '/skill sql',
      'hello',
    );
    expect(status).toBe(0);
    expect(chat.sent()).toEqual([['git'], ['git'], ['git']]);
    expect(stderr).toBe(`skills: +git\nskill ${chat.place('sql/SKILL.md')}: can no longer be read (ENOENT)\n`);
    expect(stdout).toContain('Out: its file can no longer be read.');
  });

  it('that vanish after they were read stay until the next start', async () => {
    const answer = (): Reply => {
      rmSync(chat.place('sql'), { recursive: true, force: true });
      return { text: 'Fine.' };
    };
    await using chat = await skilled({ config: MATCHED, answer });
    await chat.chat('/skill sql', 'hello', 'hello');
    expect((await chat.chat('hello')).stderr).toBe('skills: -sql\n');
    expect(chat.sent()).toEqual([['sql'], ['sql'], []]);
  });
});

describe('the small model as matcher', () => {
  const config = { skills: { mode: 'matched', matcher: 'llm' }, small_model: { model: 'small' } };

  it('chooses, and names that it made up are dropped', async () => {
    const answer = ({ model }: SentRequest): Reply => ({ text: model === 'small' ? '["sql", "nope"]' : 'Fine.' });
    await using chat = await skilled({ config, answer });
    await chat.ask('my tables are slow');
    expect(chat.sent()).toEqual([['sql']]);
  });

  it('falls back to matching words if it fails', async () => {
    const answer = ({ model }: SentRequest): Reply => (model === 'small' ? { status: 400 } : { text: 'Fine.' });
    await using chat = await skilled({ config, answer });
    expect((await chat.ask('git please')).stdout.trim()).toBe('Fine.');
    expect(chat.sent()).toEqual([['git']]);
  });
});

describe('a skill whose compression failed', () => {
  const skills = { 'git.md': `${howTo('git')}\n\n## Examples\n\n${'An example. '.repeat(1000)}` };
  const config = {
    context_window: 8000,
    max_input_tokens: 3000,
    small_model: { model: 'small', context_window: 100_000 },
    skills: { mode: 'all' },
  };
  const answer = ({ model }: SentRequest): Reply => (model === 'small' ? { status: 400 } : { text: 'Fine.' });

  it('is cut, with one notice', async () => {
    await using chat = await skilled({ skills, config, answer });
    const { status, stderr } = await chat.chat('hello', 'hello again');
    expect(status).toBe(0);
    expect(
      stderr.match(/The skill 'git' could not be compressed: only its beginning is sent \(.* of 12k characters\)/g),
    ).toHaveLength(1);
    expect(stderr).toContain(chat.place('git.md'));
    for (const request of chat.asked()) expect(systemOf(request)).toContain('The rest is left out');
  });

  it('tells the model where the whole text is if it has read_file', async () => {
    await using chat = await skilled({ skills, config, answer });
    await chat.ask('hello');
    expect(systemOf(chat.asked()[0])).toContain(`The whole text is in ${chat.place('git.md')}; read_file reads it.`);
  });

  it.each([
    ['tools are off', ['--no-tools']],
    ['it has other tools only', ['--tools', 'bash']],
  ])('does not mention read_file to the model if %s', async (_when, args) => {
    await using chat = await skilled({ skills, config, answer });
    const { stderr } = await chat.hi('ask', ...args, 'hello');
    expect(stderr).toContain('only its beginning is sent');
    expect(systemOf(chat.asked()[0])).toContain('[The rest is left out to save room.]');
    expect(JSON.stringify(chat.asked()[0]?.messages)).not.toContain('read_file');
  });
});

describe('a large new skill', () => {
  it('does not inflate the measure of messages if the server reports usage', async () => {
    const skills = { 'git.md': `${howTo('git')} ${'An example. '.repeat(1000)}` };
    const config = { ...MATCHED, context_window: 20_000, tools: { enabled: false } };
    const answer = ({ messages }: SentRequest): Reply => {
      const characters = messages.map(({ content }) => String(content)).join('').length;
      return { text: 'Fine.', usage: [Math.ceil(characters / 4), 5] };
    };
    await using chat = await skilled({ skills, config, answer });
    await chat.chat('hello', 'git please', 'thanks');
    const { status, stderr } = await chat.ask('word '.repeat(7200));
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(chat.sent()).toEqual([[], ['git'], ['git'], ['git']]);
  });
});

describe('slow work on skills', () => {
  const slow = ({ model }: SentRequest): Reply => (model === 'small' ? { text: '', hangAfter: 0 } : { text: 'Fine.' });
  const small_model = { model: 'small', context_window: 100_000 };

  it.each([
    ['choosing skills', { skills: { mode: 'matched', matcher: 'llm' } }],
    ['shortening skills', { skills: { mode: 'all' }, context_window: 3600, tools: { enabled: false } }],
  ])('is reported while it lasts, and can be stopped: %s', async (words, config) => {
    const skills = { 'git.md': 'How to use git. '.repeat(800) };
    await using chat = await skilled({ skills, config: { small_model, ...config }, answer: slow });
    const terminal = await chat.open();
    terminal.type(`hello${KEY.enter}`);
    await terminal.until(`${words} · `, 20_000);
    terminal.type(control('c'));
    await terminal.until((screen) => /\(interrupted\)\n+hi> hello$/.test(screen.trimEnd()), 20_000);
    expect(terminal.screen()).not.toContain(words);
    expect(chat.asked()).toEqual([]);
  });
});

describe("a provider's prompt cache over fifty turns", () => {
  /** Subjects that come, stay a while, alternate, pause and come back. */
  const TALK = [
    ...['git', 'hm', 'git', 'ok', 'git', 'git and docker', 'docker', 'hm', 'docker', 'git'],
    ...['thanks', 'hello', 'a joke', 'another', 'haha', 'sql', 'hm', 'ok', 'sql', 'ok'],
    ...['sql and css', 'css', 'sql', 'css', 'sql', 'css', 'ok', 'css', 'hm', 'ok'],
    ...['regex', 'nginx', 'regex', 'nginx', 'hm', 'ok', 'bye', 'hello', 'git', 'ok'],
    ...['git', 'docker', 'git', 'docker', 'sql', 'git', 'thanks', 'ok', 'hm', 'bye'],
  ];

  it('is invalidated 18 times, only when a skill comes or goes, and valid up to that place', async () => {
    const skills = skillsOf('git', 'docker', 'sql', 'css', 'regex', 'nginx');
    await using chat = await skilled({ skills, config: { ...MATCHED, preamble: 'You are kind.' } });
    await chat.chat(...TALK);
    const asked = chat.asked();
    const sent = chat.sent();
    expect(asked).toHaveLength(TALK.length);

    const breaks: number[] = [];
    for (const [turn, request] of asked.entries()) {
      const before = asked[turn - 1];
      if (before === undefined || isExtended(before, request)) continue;
      breaks.push(turn);
      const kept = keptOf(sent[turn - 1] ?? [], sent[turn] ?? []);
      const end = kept === undefined ? 'You are kind.' : `${howTo(kept)}\n</skill>`;
      const start = systemOf(before).split(end)[0] + end;
      expect(systemOf(request).startsWith(start)).toBe(true);
    }
    const changes = sent.flatMap((names, turn) =>
      turn > 0 && [...names].sort().join() !== [...(sent[turn - 1] ?? [])].sort().join() ? [turn] : [],
    );
    expect(breaks).toEqual(changes);
    expect(breaks).toHaveLength(18);
  });
});

/** Whether a request begins as the one before it did, message for message. */
function isExtended(before: SentRequest, request: SentRequest): boolean {
  return before.messages.every((message, at) => JSON.stringify(message) === JSON.stringify(request.messages[at]));
}

/** The last skill in front of the first that went, up to which a request begins as the one before it did. */
function keptOf(before: readonly string[], now: readonly string[]): string | undefined {
  const gap = before.findIndex((name) => !now.includes(name));
  return before.slice(0, gap === -1 ? before.length : gap).at(-1);
}
