import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM } from '../support/program.js';
import { type Reply, type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { openTerminal } from '../support/terminal.js';

const PAGE = readFileSync('docs/editors.md', 'utf8');

/** The recipe in a language, as the page shows it. */
const recipe = (language: string): string => PAGE.split(`\`\`\`${language}\n`)[1]?.split('```')[0] ?? '';

/**
 * An editor without the developer's own files: how it is started with a recipe and a text, and how it is told to ask.
 */
interface Editor {
  readonly program: string;
  readonly language: string;
  args(recipe: string, text: string): readonly string[];
  /** Asks about the second and third line; `replace` puts the answer in their place. Then saves and leaves. */
  ask(question: string, replace: boolean): readonly string[];
}

const vim = (program: string, quiet: readonly string[]): Editor => ({
  program,
  language: 'vim',
  args: (recipe, text) => [...quiet, '-S', recipe, text],
  ask: (question, replace) => [`:2,3Hi${replace ? '!' : ''} ${question}\r`, ':w\r', ':q!\r'],
});

const EDITORS: readonly Editor[] = [
  vim('vim', ['-u', 'NONE', '-N', '-i', 'NONE', '-n']),
  vim('nvim', ['-u', 'NONE', '-i', 'NONE', '-n']),
  {
    program: 'emacs',
    language: 'elisp',
    args: (recipe, text) => ['-nw', '-Q', '-l', recipe, text],
    // Goes to the second line, marks two, presses the key, and answers its question.
    ask: (question, replace) => [
      '\x1b<\x0e\x00\x0e\x0e',
      `${replace ? '\x15' : ''}\x03h`,
      `${question}\r`,
      '\x18\x13',
      '\x18\x03',
    ],
  },
];

const isInstalled = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

describe.each(EDITORS)('the recipe for $program', ({ program, language, args, ask }) => {
  let home: Home;
  let server: ScriptedServer;
  let reply: Reply;

  beforeEach(async () => {
    server = await startScriptedServer(() => reply);
    home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
    mkdirSync(join(home.folder, 'bin'));
    symlinkSync(PROGRAM, join(home.folder, 'bin', 'hi'));
    writeFileSync(join(home.folder, 'recipe'), recipe(language));
    home.write('text.txt', 'one\ntwo\nthree\nfour\n');
  });
  afterEach(async () => {
    await server.close();
    home.remove();
  });

  it('has at most 30 lines', () => {
    expect(recipe(language).split('\n').length).toBeGreaterThan(5);
    expect(recipe(language).split('\n').length).toBeLessThanOrEqual(31);
  });

  // A developer may lack an editor; .ci/run installs all of them.
  if (!isInstalled(program)) {
    it(`cannot be tried out here: there is no ${program}`, () => expect(isInstalled(program)).toBe(false));
    return;
  }

  const edited = (): string => readFileSync(join(home.work, 'text.txt'), 'utf8');

  /** Opens the text, asks and leaves; resolves to the last screen before the text was saved. */
  async function run(question: string, replace: boolean): Promise<string> {
    const env = { ...home.env, PATH: [join(home.folder, 'bin'), home.env.PATH].join(delimiter) };
    const terminal = openTerminal(program, args(join(home.folder, 'recipe'), 'text.txt'), { env, cwd: home.work });
    try {
      await terminal.until('four', 20_000);
      const [first = '', ...rest] = ask(question, replace);
      terminal.type(first);
      let asked = first.includes(question);
      let screen = '';
      for (const keys of rest) {
        if (asked) {
          await terminal.until(/Hello|hi: /, 20_000);
          screen = terminal.screen();
        }
        terminal.type(keys);
        asked = keys.includes(question);
      }
      await terminal.exit();
      return screen;
    } finally {
      await terminal.close();
    }
  }

  it('puts the answer below the selected lines', async () => {
    reply = { text: 'Hello,\n*you* "there".' };
    await run(`what's "this" $HOME?`, false);
    expect(server.requests[0]?.messages.at(-1)?.content).toMatch(
      /^<stdin>\ntwo\nthree\n<\/stdin>\n*what's "this" \$HOME\?$/,
    );
    expect(edited()).toBe('one\ntwo\nthree\nHello,\n*you* "there".\nfour\n');
  });

  it('replaces the selected lines with the answer', async () => {
    reply = { text: 'Hello.' };
    await run('shorter', true);
    expect(edited()).toBe('one\nHello.\nfour\n');
  });

  it('changes nothing if hi fails, and shows why', async () => {
    reply = { status: 401, error: { message: 'Incorrect API key provided' } };
    expect(await run('shorter', true)).toMatch(/hi: .*key/);
    expect(edited()).toBe('one\ntwo\nthree\nfour\n');
  });
});
