import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { KEY, openTerminal } from '../support/terminal.js';

let home: Home;
let server: ScriptedServer;

beforeEach(async () => {
  server = await startScriptedServer(() => ({ text: 'Done.' }));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
  mkdirSync(join(home.config, 'commands', 'git'), { recursive: true });
});

afterEach(async () => {
  await server.close();
  home.remove();
});

const command = (name: string, text: string): void => writeFileSync(join(home.config, 'commands', `${name}.md`), text);
const hi = (args: readonly string[], input?: string) => runProgram(home, args, input === undefined ? {} : { input });
const asked = (index = 0): unknown => server.requests[index]?.messages.at(-1)?.content;

describe("a command of the user's own", () => {
  it('can be run with its arguments by hi ask', async () => {
    command('review', '---\ndescription: Review a change\n---\n\nReview $1 for $2. All: $ARGUMENTS\n');
    const run = await hi(['ask', '--command', 'review', 'the parser', 'speed']);
    expect(run).toMatchObject({ status: 0, stdout: 'Done.\n' });
    expect(asked()).toBe('Review the parser for speed. All: the parser speed');
  });

  it('is a slash command of the chat, with completion and help', async () => {
    command('review', '---\ndescription: Review a change\nargument-hint: "[what]"\n---\nReview $ARGUMENTS now.\n');
    const terminal = openTerminal(RUNTIME, [PROGRAM, 'chat'], {
      env: home.env,
      cwd: home.work,
      columns: 100,
      rows: 60,
    });
    try {
      await terminal.until('hi>');
      terminal.type(`/rev${KEY.tab}`);
      await terminal.until('/review');
      terminal.type(`"my change" and more${KEY.enter}`);
      await terminal.until('Done.');
      terminal.type(`/help all${KEY.enter}`);
      await terminal.until(/\/review \[what\]\s+Review a change/);
    } finally {
      await terminal.close();
    }
    expect(asked()).toBe('Review "my change" and more now.');
  });

  it('runs the shell commands in it and attaches the files that it names, but not those of its arguments', async () => {
    home.write('notes.txt', 'Remember the milk.');
    home.write('secret.txt', 'not for the model');
    command('look', 'See @notes.txt and !`printf "%s|" "$@" "$ARGUMENTS"`.\n!echo second line\nAbout: $ARGUMENTS');
    expect(await hi(['ask', '--command', 'look', '@secret.txt', "it's; touch made"])).toMatchObject({ status: 0 });
    const sent = JSON.stringify(asked());
    expect(sent).toContain('Remember the milk.');
    expect(sent).not.toContain('not for the model');
    expect(sent).toContain(
      "See @notes.txt and @secret.txt|it's; touch made|@secret.txt it's; touch made|.\\nsecond line\\nAbout: @secret.txt it's; touch made",
    );
    expect((await hi(['ask', '--command', 'look'])).status).toBe(0);
  });

  it('sends nothing when a shell command in it fails', async () => {
    command('broken', 'State: !`echo lost >&2; exit 3`');
    const run = await hi(['ask', '--command', 'broken']);
    expect(run).toMatchObject({ status: 2, stdout: '' });
    expect(run.stderr).toMatch(/'.*exit 3' failed: exit status 3\.[\s\S]*lost/);
    expect(server.requests).toEqual([]);
  });

  it('is answered by the model that it names, and the next question by the usual one', async () => {
    command('quick', '---\nmodel: small-one\n---\nQuick: $ARGUMENTS');
    await hi(['chat'], '/quick one\nand two\n');
    expect(server.requests.map(({ model }) => model)).toEqual(['small-one', 'scripted']);
  });

  it('includes piped input and files', async () => {
    command('sum', 'Sum this up.');
    await hi(['ask', '--command', 'sum'], 'piped words\n');
    expect(JSON.stringify(asked())).toMatch(/<stdin>\\npiped words\\n<\/stdin>.*Sum this up\./);
  });

  it('is read again each time, in subfolders too, with any line ends', async () => {
    command('git/log', 'First.\r\nSecond.\r\n');
    await hi(['ask', '--command', 'git:log']);
    expect(asked()).toBe('First.\nSecond.');
  });

  it("cannot have the name of one of hi's own", async () => {
    command('status', 'Never sent.');
    const { stdout } = await hi(['chat'], '/status\n');
    expect(stdout).toContain('window');
    expect(server.requests).toEqual([]);
  });

  it('is named in the error if it is unknown, empty or cannot be read', async () => {
    command('review', 'Review.');
    expect((await hi(['ask', '--command', 'reviw'])).stderr).toContain("Did you mean 'review'?");
    command('empty', '---\ndescription: x\n---\n');
    expect((await hi(['ask', '--command', 'empty'])).stderr).toContain('/empty is empty');
    mkdirSync(join(home.config, 'commands', 'folder.md'));
    expect((await hi(['ask', '--command', 'folder'])).status).toBe(2);
    if (process.getuid?.() !== 0) {
      command('closed', 'x');
      chmodSync(join(home.config, 'commands', 'closed.md'), 0);
      expect((await hi(['ask', '--command', 'closed'])).stderr).toContain('EACCES');
    }
    expect(server.requests).toEqual([]);
  });
});

describe('a command that was written for another program', () => {
  const foreign = (file: string, text: string): void => {
    const path = join(home.env.HOME ?? '', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };

  it('works where it is, but nothing in it is run and the model that it names is not asked', async () => {
    foreign('.claude/commands/fix.md', '---\nmodel: other\n---\nFix $1.\n!touch made\nState: !`touch made`');
    foreign('.codex/prompts/draft.md', 'Draft $ARGUMENTS.');
    command('mine', 'Mine: !`echo run`');
    const run = await hi(['ask', '--command', 'fix', 'the parser']);
    expect(run).toMatchObject({ status: 0, stdout: 'Done.\n' });
    expect(run.stderr).toContain('2 shell commands in it are sent as text');
    expect(asked()).toBe('Fix the parser.\n!touch made\nState: !`touch made`');
    expect(existsSync(join(home.work, 'made'))).toBe(false);
    const { stderr } = await hi(['chat'], '/draft a letter\n/fix it\n/mine\n');
    expect(stderr).toContain('2 shell commands in it are sent as text');
    expect([1, 2, 3].map(asked)).toEqual([
      'Draft a letter.',
      'Fix it.\n!touch made\nState: !`touch made`',
      'Mine: run',
    ]);
    expect(server.requests.map(({ model }) => model)).toEqual(Array(4).fill('scripted'));
    expect(existsSync(join(home.work, 'made'))).toBe(false);
  });

  it("does not replace one of the user's own", async () => {
    foreign('.claude/commands/review.md', 'Theirs.');
    command('review', 'Mine.');
    await hi(['ask', '--command', 'review']);
    expect(asked()).toBe('Mine.');
  });
});
