import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { isJsonObject, type JsonValue } from '../../lib/chat/json.js';
import { type Home, makeHome, PROGRAM, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { control, KEY, openTerminal, type Terminal } from '../support/terminal.js';
import { openVendorHouse, type VendorHouse } from '../support/vendor-house.js';

const ROOT = resolve(import.meta.dirname, '../..');
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/**
 * A fenced block: its language, and what is in it. One that installs something, or needs what a machine may not have,
 * comes after `<!-- elsewhere -->`.
 */
interface Block {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly elsewhere: boolean;
  readonly text: string;
}

const read = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

function blocksOf(page: string): readonly Block[] {
  const text = read(page);
  return [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    page,
    line: text.slice(0, match.index).split('\n').length,
    language: match[1] ?? '',
    elsewhere: text.slice(0, match.index).trimEnd().endsWith('<!-- elsewhere -->'),
    text: match[2] ?? '',
  }));
}

const BLOCKS = PAGES.flatMap(blocksOf);
const COMMANDS = BLOCKS.filter(({ language, elsewhere }) => language === 'sh' && !elsewhere);

/** What somebody at the keyboard does when a line ends so: take what is offered, say yes, leave the chat. */
const HABITS: readonly (readonly [RegExp, string])[] = [
  [/^hi( \d+%)?> *$/, control('d')],
  [/^(\?| ) .*: *$/, KEY.enter],
  [/\(y\/N\) *$/, `y${KEY.enter}`],
  [/(⏎ select|toggle visibility)$/, KEY.enter],
];

let home: Home;
let server: ScriptedServer;
let anthropic: VendorHouse;
let terminal: Terminal | undefined;

/** What a model says: words, code, or JSON of the form that is asked for. */
function obedient(format: JsonValue | undefined, question: unknown): string {
  if (isJsonObject(format) && isJsonObject(format.json_schema))
    return JSON.stringify(instanceOf(format.json_schema.schema));
  return String(question).includes('A shell command') ? '```sh\nwc -w\n```\n' : 'As you say.\n';
}

function instanceOf(schema: JsonValue | undefined): JsonValue {
  const { type, properties, items } = isJsonObject(schema) ? schema : {};
  if (isJsonObject(properties))
    return Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, instanceOf(inner)]));
  if (type === 'array') return [instanceOf(items)];
  const [first] = [type].flat();
  return first === 'string' ? 'words' : first === 'boolean' ? true : 1;
}

/** A user with a model. */
async function setUp(): Promise<void> {
  server = await startScriptedServer(({ response_format, messages }) => ({
    text: obedient(response_format, messages.at(-1)?.content),
    usage: [40, 4],
  }));
  anthropic = await openVendorHouse('anthropic');
  const config = { provider: 'openai', model: 'scripted', api_base: server.base, api_key: 'sk-in-the-file' };
  home = makeHome(config);
  home.write('other.json', JSON.stringify(config));
}

/** Has the user talk before, in a folder with a few files and something to commit. */
async function talkBefore(): Promise<void> {
  mkdirSync(join(home.folder, 'bin'));
  symlinkSync(PROGRAM, join(home.folder, 'bin', 'hi'));
  for (const name of ['notes.md', 'question.txt', 'questions.txt', 'letter.txt', 'plan.pdf'])
    home.write(name, name === 'plan.pdf' ? '%PDF-1.4\n%%EOF\n' : 'What is missing?\n');
  home.write('person.schema.json', '{"type": "object", "properties": {"name": {"type": "string"}}}');
  execFileSync('git', ['init', '-q'], { cwd: home.work });
  execFileSync('git', ['add', 'notes.md'], { cwd: home.work });
  home.write('notes.md', 'What is missing here?\n');
  await sayBefore();
  copyFileSync(home.historyFile, join(home.work, 'history.json.zst'));
}

/** What was said before, which is said once for all specs. */
let said: string | null = null;
afterAll(() => {
  if (said !== null) rmSync(said, { recursive: true });
});
async function sayBefore(): Promise<void> {
  if (said !== null) return cpSync(said, home.data, { recursive: true });
  await runProgram(home, ['chat'], { input: 'one\ntwo\nthree\n' });
  said = mkdtempSync(join(tmpdir(), 'hi-said-'));
  cpSync(home.data, said, { recursive: true });
}

afterEach(async () => {
  await terminal?.close();
  terminal = undefined;
  await server?.close();
  await anthropic?.close();
  home?.remove();
});

/**
 * Runs commands in a terminal as their reader would, and resolves to what was on the screen and the status of the first
 * that failed.
 */
async function runAsReader(commands: string): Promise<{ readonly status: number; readonly transcript: string }> {
  const env = {
    ...home.env,
    PATH: [join(home.folder, 'bin'), home.env.PATH].join(delimiter),
    ANTHROPIC_API_KEY: 'sk-ant-here',
    ANTHROPIC_BASE_URL: anthropic.base,
    OPENAI_BASE_URL: server.base,
    EDITOR: 'true',
    PAGER: 'cat',
    file: 'history.json.zst',
  };
  const opened = openTerminal('bash', ['-e', '-o', 'pipefail', '-c', commands], { env, cwd: home.work, columns: 160 });
  terminal = opened;
  let isOver = false;
  const over = opened.exit().finally(() => {
    isOver = true;
  });
  let answered = '';
  while (!isOver) {
    const line = opened.lastLine();
    const habit = HABITS.find(([question]) => question.test(line));
    const screen = opened.transcript();
    if (habit !== undefined && screen !== answered) {
      answered = screen;
      opened.type(habit[1]);
    }
    await new Promise((done) => setTimeout(done, 50));
  }
  const { status } = await over;
  return { status, transcript: opened.transcript() };
}

describe('the commands shown in the documentation', () => {
  it.each(COMMANDS.map((block) => [`${block.page}:${block.line}`, block] as const))(
    'work as shown in %s',
    async (_place, { text }) => {
      await setUp();
      await talkBefore();
      const { status, transcript } = await runAsReader(text);
      expect([status, transcript]).toEqual([0, expect.any(String)]);
    },
  );

  it('are marked: every other block names its language, or is a picture', () => {
    const unmarked = BLOCKS.filter(({ language, text }) => language === '' && /^(\$ )?(hi|zstd|npm|curl) /m.test(text));
    expect(unmarked.map(({ page, line }) => `${page}:${line}`)).toEqual([]);
    expect(COMMANDS.length).toBeGreaterThan(5);
  });
});

describe('the configurations shown in the documentation', () => {
  const CONFIGURATIONS = BLOCKS.filter(({ language }) => language === 'json');

  it.each(CONFIGURATIONS.map((block) => [`${block.page}:${block.line}`, block] as const))(
    'are accepted as shown in %s',
    async (_place, { text }) => {
      await setUp();
      home.write('shown.json', text);
      const run = await runProgram(home, ['config', 'show', '--config', 'shown.json'], {
        env: { OPENAI_API_KEY: 'k' },
      });
      expect([run.status, run.stderr]).toEqual([0, '']);
      expect(JSON.parse(run.stdout)).toMatchObject({ provider: expect.any(String), model: expect.any(String) });
    },
  );
});

describe('the documentation', () => {
  it('names only existing commands and options in its text', async () => {
    await setUp();
    const helps = new Map<string, string>();
    const help = async (...command: readonly string[]): Promise<string> => {
      const key = command.join(' ');
      const known = helps.get(key) ?? (await runProgram(home, [...command, '--help'])).stdout;
      helps.set(key, known);
      return known;
    };
    const whole = await help();
    const commands = [...whole.matchAll(/^ {2}([a-z]+)(?: |$)/gm)].map(([, name]) => name ?? '');
    const wrong: string[] = [];
    for (const page of PAGES)
      for (const [, span = ''] of read(page).matchAll(/`hi( [^`]+)`/g)) {
        const words = span.trim().split(/\s+/);
        const command = words.find((word) => commands.includes(word));
        if (/^[a-z]+$/.test(words[0] ?? '') && command !== words[0]) wrong.push(`${page}: hi${span}`);
        const text = `${whole}${command === undefined ? '' : await help(command, ...nested(command, words))}`;
        for (const option of words.filter((word) => /^--[a-z]/.test(word)))
          if (!text.includes(option.replace(/=.*/, ''))) wrong.push(`${page}: hi${span}`);
      }
    expect(wrong).toEqual([]);
  });

  it('lists every setting with its default in docs/configure.md, or on the page linked there', async () => {
    await setUp();
    const schema = JSON.parse((await runProgram(home, ['config', 'schema'])).stdout);
    const names = Object.keys(schema.properties).filter((name) => name !== '$schema');
    expect(names.filter((name) => !read('docs/configure.md').includes(`\`${name}`))).toEqual([]);
  });

  it('gives a reason for every package', () => {
    const { devDependencies, optionalDependencies } = JSON.parse(read('package.json'));
    const page = read('docs/dependencies.md');
    const names = Object.keys({ ...devDependencies, ...optionalDependencies });
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('shows a recorded screen in README.md', () => {
    const [picture = '', ...others] = [...read('README.md').matchAll(/!\[[^\]]*\]\(docs\/(tour\/[\w-]+\.svg)\)/g)].map(
      ([, file = '']) => file,
    );
    expect(others).toEqual([]);
    expect(read('docs/tour.md')).toContain(`](${picture})`);
  });

  it('links only to existing files', () => {
    const broken = PAGES.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:)([^)#]+)(#[^)]*)?\)/g)]
        .map(([, target = '']) => target)
        .filter((target) => !existsSync(join(ROOT, dirname(page), target)))
        .map((target) => `${page}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  it('has no page that cannot be reached from README.md', () => {
    const readme = read('README.md');
    expect(PAGES.filter((page) => page !== 'README.md' && !readme.includes(page))).toEqual([]);
  });
});

/** The second word of a command that has commands of its own. */
function nested(command: string, words: readonly string[]): readonly string[] {
  const next = words[words.indexOf(command) + 1];
  return ['config', 'mcp'].includes(command) && next !== undefined && /^[a-z]+$/.test(next) ? [next] : [];
}
