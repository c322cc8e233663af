import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, type Run, runProgram } from '../support/program.js';
import { type Reply, type ScriptedServer, type SentRequest, startScriptedServer } from '../support/scripted-server.js';

let server: ScriptedServer;
let home: Home;

interface Setting {
  readonly skills: Readonly<Record<string, string>>;
  readonly config?: object;
  readonly answer?: (request: SentRequest, index: number) => Reply;
}

/** A home with these skills whose configuration points at a server that answers like this. */
async function setUp({ skills, config = {}, answer = () => ({ text: 'Fine.' }) }: Setting): Promise<void> {
  server = await startScriptedServer(answer);
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base, ...config });
  for (const [name, text] of Object.entries(skills)) {
    const path = join(home.config, 'skills', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

afterEach(async () => {
  await server?.close();
  home?.remove();
});

const ask = (text: string): Promise<Run> => runProgram(home, ['ask', text]);
const chat = (...lines: readonly string[]): Promise<Run> =>
  runProgram(home, ['chat'], { input: `${lines.join('\n')}\n` });

const NAMES = ['git', 'docker', 'sql'];
const skill = (name: string): string => `---\nname: ${name}\ndescription: About ${name}.\n---\nHow to use ${name}.`;
const SKILLS = Object.fromEntries(NAMES.map((name) => [`${name}/SKILL.md`, skill(name)]));
const MATCHED = { skills: { mode: 'matched' } };

/** The system texts of a request, in order. */
function systemOf(request: SentRequest | undefined): string {
  const system = (request?.messages ?? []).filter(({ role }) => role === 'system' || role === 'developer');
  return system.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content))).join('\n');
}

/** The skills whose text each request of the main model had, in the order of the request. */
function sent(): readonly (readonly string[])[] {
  return server.requests
    .filter(({ model }) => model === 'scripted')
    .map((request) => [...systemOf(request).matchAll(/How to use (\w+)\./g)].map((match) => match[1] ?? ''));
}

/** What the history recorded with each user message. */
function records(): readonly { matched: string[]; active: string[]; standing?: object }[] {
  const entries: readonly { role?: string; skills?: { matched: string[]; active: string[] } }[] = JSON.parse(
    execFileSync('zstd', ['-dc', home.historyFile]).toString(),
  );
  return entries.flatMap(({ role, skills }) => (role === 'user' && skills ? [skills] : []));
}

describe('skills', () => {
  it('are the .md files of the config folder, and their content follows the preamble', async () => {
    const skills = { 'coding-assistant.md': 'Write tests first.', 'translator.md': 'Keep the tone.' };
    await setUp({ skills, config: { preamble: 'You are kind.' } });
    await ask('hello');
    expect(systemOf(server.requests[0])).toMatch(/^You are kind\.[\s\S]*Write tests first\.[\s\S]*Keep the tone\./);
  });

  it('may be folders, whose place the model is told', async () => {
    await setUp({ skills: { ...SKILLS, 'git/references/flow.md': 'beside' } });
    await ask('hello');
    expect(systemOf(server.requests[0])).toContain(join(home.config, 'skills', 'git'));
    expect(sent()).toEqual([['docker', 'git', 'sql']]);
  });

  it('are listed by name, with those left out and why', async () => {
    await setUp({
      skills: { ...SKILLS, 'empty.md': '', 'odd/SKILL.md': '---\nname: odd\ndescription: a: b\n---\nOdd.' },
    });
    const run = await runProgram(home, ['skills', '--json']);
    const listed: { skills: { name: string }[]; warnings: { path: string; reason: string }[] } = JSON.parse(run.stdout);
    expect(listed.skills.map(({ name }) => name)).toEqual(['docker', 'git', 'odd', 'sql']);
    expect(listed.warnings).toEqual(
      [
        { path: join(home.config, 'skills/odd/SKILL.md'), reason: expect.stringMatching(/^line 3: /) },
        { path: join(home.config, 'skills/empty.md'), reason: 'is empty; left out' },
      ].sort((one, other) => (one.path < other.path ? -1 : 1)),
    );
  });

  it('cannot act on the terminal that lists them', async () => {
    const text = '---\ndescription: "\\e[31mred \\x9b2J"\n---\nText.';
    await setUp({ skills: { 'red.md': text, '\u001b[31m.md': 'Text.' } });
    for (const args of [['skills'], ['config', 'check']]) {
      const { stdout, stderr } = await runProgram(home, args);
      expect(stdout + stderr).toContain('[31m');
      expect(stdout + stderr).not.toMatch(/[\u001b\u009b]/);
    }
  });

  it('that are broken do not keep the others from being sent', async () => {
    const skills = { ...SKILLS, 'bad.md': '\0\0', 'empty.md': '', 'evil/SKILL.md': '---\nname: ../../x\n---\nNo.' };
    await setUp({ skills });
    expect((await ask('hello')).status).toBe(0);
    expect(sent()).toEqual([['docker', 'git', 'sql']]);
    expect(systemOf(server.requests[0])).not.toContain('No.');
  });
});

describe('dynamic skills management', () => {
  it('tracks when each skill was last matched, in the history alone', async () => {
    await setUp({ skills: SKILLS, config: MATCHED });
    await ask('git please');
    await ask('thanks');
    expect(records()).toMatchObject([
      { matched: ['git'], active: ['git'], standing: { git: { uses: 1, idle: 0 } } },
      { matched: [], active: ['git'], standing: { git: { idle: 1 } } },
    ]);
  });

  it('matches again and loads new skills on each query, and says so', async () => {
    await setUp({ skills: SKILLS, config: MATCHED });
    expect((await ask('git please')).stderr).toContain('+git');
    expect((await ask('and docker')).stderr).toContain('+docker');
    expect(sent()).toEqual([['git'], ['git', 'docker']]);
  });

  it('evicts skills that were not matched in the last three queries, and says so', async () => {
    await setUp({ skills: SKILLS, config: MATCHED });
    const { stderr } = await chat('git please', 'hello', 'how are you', 'tell me a joke', 'another');
    expect(sent()).toEqual([['git'], ['git'], ['git'], [], []]);
    expect(stderr).toContain('-git');
  });

  it('keeps skills that are relevant to the conversation though not matched in the query', async () => {
    const answer = (): Reply => ({ text: 'Run git rebase.' });
    await setUp({ skills: SKILLS, config: MATCHED, answer });
    await chat('git please', 'and then?', 'and then?', 'and then?', 'and then?');
    expect(sent()).toEqual([['git'], ['git'], ['git'], ['git'], ['git']]);
  });

  it('prioritizes the frequently used over the recently used', async () => {
    const large = (name: string): string => `How to use ${name}.${' Carefully.'.repeat(100)}`;
    const skills = { 'git.md': large('git'), 'docker.md': large('docker'), 'sql.md': large('sql') };
    // A body is 280 tokens: there is room for two.
    await setUp({ skills, config: { context_window: 4000 } });
    await chat('git please', 'git again', 'docker please', 'sql please');
    expect(sent()).toEqual([['git'], ['git'], ['git', 'docker'], ['git', 'sql']]);
  });

  it('loads and drops by hand', async () => {
    await setUp({ skills: SKILLS, config: MATCHED });
    await chat('/skill sql', 'hello', 'hello', 'hello', 'hello', '/skill -sql', 'hello', 'sql please');
    expect(sent()).toEqual([['sql'], ['sql'], ['sql'], ['sql'], [], []]);
  });

  it('goes on over a compaction as if nothing had happened', async () => {
    const config = { ...MATCHED, compaction: { strategy: 'truncate' } };
    await setUp({ skills: SKILLS, config });
    await chat('/skill sql', 'git please', 'hello', '/compact', 'hello', 'tell me a joke');
    expect(sent()).toEqual([['sql', 'git'], ['sql', 'git'], ['sql', 'git'], ['sql']]);
  });

  it('is asked of the small model where the configuration says so', async () => {
    const config = { skills: { mode: 'matched', matcher: 'llm' }, small_model: { model: 'small' } };
    const answer = ({ model }: SentRequest): Reply => ({ text: model === 'small' ? '["sql", "nope"]' : 'Fine.' });
    await setUp({ skills: SKILLS, config, answer });
    await ask('my tables are slow');
    expect(sent()).toEqual([['sql']]);
  });

  it('falls back to words when the small model fails', async () => {
    const config = { skills: { mode: 'matched', matcher: 'llm' }, small_model: { model: 'small' } };
    const answer = ({ model }: SentRequest): Reply => (model === 'small' ? { status: 400 } : { text: 'Fine.' });
    await setUp({ skills: SKILLS, config, answer });
    expect((await ask('git please')).stdout.trim()).toBe('Fine.');
    expect(sent()).toEqual([['git']]);
  });

  it('breaks the prompt cache only where skills come or go', async () => {
    await setUp({ skills: SKILLS, config: MATCHED });
    await chat('git please', 'hm', 'docker please', 'git', 'hello', 'docker');
    const systems = server.requests.map(systemOf);
    const changes = systems.filter((system, index) => index > 0 && system !== systems[index - 1]);
    expect(changes).toHaveLength(1);
    expect(changes[0]?.startsWith(systems[0] ?? 'never')).toBe(true);
  });
});

describe('compression of skills', () => {
  const LARGE = `How to use git.\n\n## Examples\n\n${'An example. '.repeat(1000)}`;
  const SHORT = 'How to use git. In short.';
  /** The skill takes three quarters of the window, so that a message of some length passes the threshold. */
  const config = {
    context_window: 4300,
    small_model: { model: 'small', context_window: 100_000 },
    skills: { mode: 'all' },
    tools: { enabled: false },
  };
  const isAboutSkill = ({ messages }: SentRequest): boolean => JSON.stringify(messages).includes('Shorten the file');
  const compressions = (): readonly SentRequest[] => server.requests.filter(isAboutSkill);
  const words = 'word '.repeat(700);

  it('sends large skills to the small model at the threshold, once, also after a restart', async () => {
    const answer = (request: SentRequest): Reply => ({ text: isAboutSkill(request) ? SHORT : 'Fine.' });
    await setUp({ skills: { 'git.md': LARGE }, config, answer });
    await ask('hello');
    expect(compressions()).toHaveLength(0);
    expect(systemOf(server.requests.at(-1))).toContain('An example.');
    await ask(words);
    await ask('and again');
    expect(compressions()).toHaveLength(1);
    expect(compressions()[0]?.model).toBe('small');
    expect(systemOf(server.requests.at(-1))).toContain(SHORT);
    expect(systemOf(server.requests.at(-1))).not.toContain('An example.');
  });

  it('tells the small model the target ratio, what to preserve and what to remove', async () => {
    const answer = (request: SentRequest): Reply => ({ text: isAboutSkill(request) ? SHORT : 'Fine.' });
    await setUp({ skills: { 'git.md': LARGE }, config, answer });
    await ask(words);
    const prompt = JSON.stringify(compressions()[0]?.messages);
    expect(prompt).toMatch(/about 50 %/);
    expect(prompt).toMatch(
      /instructions.*key examples.*important context.*redundant explanation.*outdated.*irrelevant/,
    );
  });

  it('cuts the skill and says where the whole text is when the small model fails', async () => {
    const answer = (request: SentRequest): Reply => (isAboutSkill(request) ? { status: 400 } : { text: 'Fine.' });
    await setUp({ skills: { 'git.md': LARGE }, config, answer });
    expect((await ask(words)).stdout.trim()).toBe('Fine.');
    const system = systemOf(server.requests.at(-1));
    expect(system).toContain(join(home.config, 'skills', 'git.md'));
    expect(system.length).toBeLessThan(LARGE.length);
  });
});
