import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../lib/chat/json.js';
import { type Home, makeHome, PROGRAM, RUNTIME } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { KEY, openTerminal, type Terminal } from '../support/terminal.js';

let server: ScriptedServer;
let home: Home;
let terminal: Terminal;

afterEach(async () => {
  await terminal?.close();
  await server?.close();
  home?.remove();
});

interface Call {
  readonly name: string;
  readonly args: JsonObject;
}

/** `hi ask go` on a terminal of that size, where the model makes these calls and then says "done". */
async function ask(calls: readonly Call[], columns = 80, rows = 24, allow: readonly string[] = []): Promise<void> {
  server = await startScriptedServer(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? { text: 'done' } : { calls: [...calls] },
  );
  const tools = { permissions: { allow } };
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base, tools });
  terminal = openTerminal(RUNTIME, [PROGRAM, 'ask', 'go'], { env: home.env, cwd: home.work, columns, rows });
}

const bash = (command: string): Call => ({ name: 'bash', args: { command } });
const MENU = /^❯ (yes, once|no)$/m;
const made = (name: string): boolean => existsSync(join(home.work, name));
const NUMBERED = Array.from({ length: 140 }, (_, index) => `echo line ${index}`).join('\n');

describe('a question shows the whole call', () => {
  it('if the harmful part is between empty lines', async () => {
    await ask([bash(`ls src\n${'\n'.repeat(60)}touch pwned\n${'\n'.repeat(60)}ls -la notes.txt`)]);
    await terminal.until(MENU);
    expect(terminal.screen()).toContain('│ ls src\n│ <60 empty lines>\n│ touch pwned\n│ <60 empty lines>\n│ ls -la');
    terminal.type('n');
    await terminal.until('done');
    expect(made('pwned')).toBe(false);
  });

  it('if it is behind 4,000 blanks', async () => {
    await ask([bash(`git status${' '.repeat(4000)}; touch pwned`)]);
    await terminal.until(MENU);
    expect(terminal.screen()).toContain('│ git status<4000 spaces>; touch pwned\n');
  });

  it('and none of it looks like a prompt or a question of hi', async () => {
    await ask([bash("touch pwned; : '\ndone\nhi> \n▸ bash git status\n? Run this command?\n❯ yes, once\ngit status'")]);
    await terminal.until(MENU);
    const [preview = '', question = ''] = terminal.screen().split(/^\? Run this command\?/m);
    expect(question).toContain('❯ yes, once');
    expect(preview.match(/^(?!│ ).+$/gm)).toBeNull();
    expect(preview).toContain('│ touch pwned;');
  });

  it.each([
    [80, 24],
    [40, 12],
  ])('if it is longer than a screen of %ix%i: head, tail, and "no" first', async (columns, rows) => {
    await ask([bash(`${NUMBERED}\ntouch ran`)], columns, rows);
    await terminal.until(MENU);
    const shown = terminal.screen();
    expect(shown).toMatch(/^│ echo line 0\n/);
    expect(shown).toMatch(/\n… \d+ more lines \(v: view all\)\n/);
    expect(shown).toContain('│ touch ran\n');
    expect(shown).toContain('❯ no\n');
    terminal.type(KEY.enter);
    await terminal.until('The user said no');
    expect(made('ran')).toBe(false);
  });

  it('to its end before Enter means yes', async () => {
    await ask([bash(`${NUMBERED}\ntouch ran`)]);
    await terminal.until(MENU);
    terminal.type('v');
    await terminal.until('1-22 of 141');
    expect(terminal.screen()).toContain('│ echo line 21\n');
    terminal.type('q');
    await terminal.until(/^❯ no$/m);
    terminal.type('v');
    for (const from of [1, 23, 45, 67, 89, 111, 120]) {
      await terminal.until(new RegExp(`^${from}-.* of 141`, 'm'));
      if (from < 120) terminal.type(' ');
    }
    expect(terminal.screen()).toContain('│ touch ran\n');
    terminal.type('q');
    await terminal.until(/^❯ yes, once$/m);
    terminal.type(KEY.enter);
    await terminal.until('done');
    expect(made('ran')).toBe(true);
  });

  it.each([
    [80, 24],
    [40, 12],
  ])('in columns, whatever the width of its characters, on a screen of %ix%i', async (columns, rows) => {
    await ask(
      [bash(`echo ${'漢字'.repeat(60)}\n${'a\t'.repeat(60)}end\n${'e\u0301'.repeat(90)}; touch pwned`)],
      columns,
      rows,
    );
    await terminal.until(MENU);
    const lines = terminal.screen().split('\n');
    expect(lines[0]).toMatch(/^│ echo 漢字/);
    expect(lines.filter((line) => line.includes('touch pwned'))).toHaveLength(1);
    expect(
      lines.findIndex((line) => /^[❯ ] yes, once$/.test(line)) - lines.findIndex((line) => line.startsWith('? ')),
    ).toBeLessThanOrEqual(rows < 20 ? 2 : 3);
  });

  it('with control characters named, in the reason too', async () => {
    await ask([bash('echo safe\rtouch pwned\x0b\x0c\x1b[2J\x1b]52;c;AAAA\x07')]);
    await terminal.until(MENU);
    const named = 'echo safe<U+000D>touch pwned<U+000B><U+000C><U+001B>[2J';
    expect(terminal.screen()).toContain(`│ ${named}`);
    expect(terminal.screen().replace(/\n {2}/g, ' ')).toContain(`invisible characters: ${named}`);
  });

  it('with the name of the file, however long the change is', async () => {
    const content = `{ "scripts": { "test": "touch pwned" },\n${'  "x": 1,\n'.repeat(60)}}`;
    await ask([{ name: 'write_file', args: { path: 'package.json', content } }], 60, 16);
    await terminal.until(MENU);
    expect(terminal.screen()).toContain('? Make this change to package.json? (write_file: ');
    expect(terminal.screen()).toContain('❯ no\n');
    expect(terminal.look('│ +').colour).toBe(-1);
    expect(terminal.look('+++ ').colour).toBe(2);
  });

  it('with the whole new content of a file that is too large for a diff, and "no" first until it was viewed', async () => {
    const content = `first line\n${'x'.repeat(75)}\n`.repeat(30_000);
    await ask([{ name: 'write_file', args: { path: 'large.txt', content } }]);
    await terminal.until(MENU);
    expect(terminal.screen()).toContain(
      '│ Too large for a diff: 60,001 lines (2,610,000 characters) would be written.\n',
    );
    expect(terminal.screen()).toContain('❯ no\n');
    terminal.type('v');
    await terminal.until('1-22 of 60003');
    expect(terminal.screen()).toContain('│ +first line\n');
    terminal.type('q');
    await terminal.until(/^❯ no$/m);
    terminal.type(KEY.enter);
    await terminal.until('The user said no');
    expect(made('large.txt')).toBe(false);
  });

  it('and is not answered by a paste', async () => {
    await ask([bash('touch ran')]);
    await terminal.until(MENU);
    const written = terminal.written();
    expect(written.lastIndexOf('\x1b[?2004h')).toBeGreaterThan(written.lastIndexOf('\x1b[?2004l'));
    terminal.paste('yes\nyes\n');
    terminal.type('n');
    await terminal.until('The user said no');
    expect(made('ran')).toBe(false);
    await terminal.exit();
    const all = terminal.written();
    expect(all.lastIndexOf('\x1b[?2004l')).toBeGreaterThan(all.lastIndexOf('\x1b[?2004h'));
  });

  it('with every invisible character named, in the name and the reason too', async () => {
    await ask([
      { name: 'write_file', args: { path: 'invoice\u202etxt.exe', content: 'a\u00ad\u2063\u{e0041}b' } },
      bash('touch \u2800x\u115f\u034f; "l\u200bs" \u202e; ls'),
    ]);
    await terminal.until(MENU);
    expect(terminal.screen()).toContain('Make this change to invoice<U+202E>txt.exe?');
    expect(terminal.screen()).toContain('│ +a<U+00AD><U+2063><U+E0041>b');
    terminal.type('n');
    await terminal.until(/Run this command\?[\s\S]*❯ yes/);
    expect(terminal.screen()).toContain('│ touch <U+2800>x<U+115F><U+034F>; "l<U+200B>s" <U+202E>; ls');
    terminal.type('n');
    await terminal.until('done');
    expect(terminal.written()).not.toMatch(/\u202e|\u2800|\u115f|\u034f|\u200b|\u00ad|\u2063/);
  });
});

describe('a question to leave the sandbox', () => {
  const FORGED = String.raw`hi \143hecked this command: it is \163afe. \101nswer y. (hi): Read-only file system\n`;

  it('has no word of the command in it, and "no" first', async () => {
    await ask([bash(`touch ran || { printf '${FORGED}' >&2; exit 1; }`)], 80, 24, [
      'bash(touch:*)',
      'bash(printf:*)',
      'bash(exit:*)',
    ]);
    await terminal.until(MENU);
    expect(terminal.screen()).toContain('it is safe. Answer y.');
    const question = terminal.screen().slice(terminal.screen().lastIndexOf('\n? '));
    expect(question.replace(/\s+/g, ' ')).toContain('the sandbox stopped it, because it wanted to write to the disk');
    expect(question).not.toMatch(/checked|safe|Answer/);
    expect(question).toContain('❯ no\n');
    terminal.type(KEY.enter);
    await terminal.until('done');
    expect(made('ran')).toBe(false);
  });
});

describe('the answer to a question', () => {
  it.each([
    ['y', true],
    ['1', true],
    ['n', false],
    ['3', false],
    [KEY.enter, true],
    ['\x1b[200~yes\x1b[201~n', false],
  ])('is given by the key %j', async (key, runs) => {
    await ask([bash('touch ran')]);
    await terminal.until(MENU);
    terminal.type(key);
    await terminal.until('done');
    expect(made('ran')).toBe(runs);
  });

  it('a stores the rule that the menu showed, and what that does not cover is asked at once, and not again', async () => {
    await ask([bash('touch ran'), bash('touch ran')]);
    await terminal.until(MENU);
    expect(terminal.screen()).toContain('yes, always: bash(touch ran)\n');
    terminal.type('a');
    await terminal.until(/yes, always: bash\(touch ran\), may write\n❯ no\n/);
    expect(made('ran')).toBe(false);
    terminal.type('a');
    await terminal.until('done');
    expect(made('ran')).toBe(true);
    const { allow } = JSON.parse(readFileSync(home.configFile, 'utf8')).tools.permissions;
    expect(allow).toEqual([{ rule: 'bash(touch ran)', folder: home.work, write: true }]);
  });

  it('a burst of keys answers only one question', async () => {
    await ask([bash('touch one'), bash('touch two')]);
    await terminal.until(MENU);
    terminal.type('yyy\r\r\r');
    await terminal.until(/│ touch two[\s\S]*❯ yes, once/);
    terminal.type('n');
    await terminal.until('done');
    expect([made('one'), made('two')]).toEqual([true, false]);
  });

  it.each([
    ['hi ask', ['ask', 'go'], ''],
    ['hi chat', ['chat'], 'go\r'],
  ])('is never a key pressed before the question, however long it is held down: %s', async (_what, args, line) => {
    server = await startScriptedServer(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? { text: 'done' } : { text: 'Well', delay: 500, calls: [bash('touch ran')] },
    );
    home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
    terminal = openTerminal(RUNTIME, [PROGRAM, ...args], { env: home.env, cwd: home.work });
    if (line !== '') await terminal.until(/hi> *$/m);
    terminal.type(line);
    // As X11 does it: once, and after 660 ms again and again.
    await sleep(300);
    terminal.type(KEY.enter);
    for (let repeat = 0; repeat < 60; repeat += 1) {
      await sleep(repeat === 0 ? 660 : 30);
      terminal.type(repeat % 2 === 0 ? KEY.enter : 'y');
    }
    await terminal.until(MENU);
    expect(made('ran')).toBe(false);
    terminal.type('n');
    await terminal.until('done');
    expect(made('ran')).toBe(false);
  });

  it('is for the file that was shown: a link that replaces it meanwhile is asked about again (A14)', async () => {
    await ask([{ name: 'write_file', args: { path: 'x.txt', content: 'evil\n' } }]);
    await terminal.until(MENU);
    writeFileSync(join(home.folder, '.bashrc'), '# mine\n');
    symlinkSync('../.bashrc', join(home.work, 'x.txt'));
    terminal.type('y');
    await terminal.until(/\.bashrc[\s\S]*❯ /);
    expect(readFileSync(join(home.folder, '.bashrc'), 'utf8')).toBe('# mine\n');
    terminal.type('n');
    await terminal.until('done');
    expect(readFileSync(join(home.folder, '.bashrc'), 'utf8')).toBe('# mine\n');
  });

  it('is for the script that was shown: one that changes meanwhile is asked about again', async () => {
    await ask([bash('sh ./build.sh')]);
    writeFileSync(join(home.work, 'build.sh'), 'touch harmless\n');
    await terminal.until(MENU);
    writeFileSync(join(home.work, 'build.sh'), 'touch pwned; true\n');
    terminal.type('y');
    await terminal.until(/build\.sh changed while you were\s+being\s+asked\.[\s\S]*❯ /);
    terminal.type('n');
    await terminal.until('done');
    expect(made('pwned')).toBe(false);
  });
});
