import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { type Chat, chatDriver } from '../support/chat.js';
import { control, KEY } from '../support/terminal.js';

const start = chatDriver();
const counted = () => start((_request, index) => ({ text: `answer ${index}` }));
const LONG = 'long text '.repeat(21).trim();

/** What was said last, as the model got it. */
const said = (chat: Chat): unknown => chat.sent().at(-1);

describe('the prompt of hi chat', () => {
  it('accepts several lines by Ctrl-J, Alt-Enter, a backslash and triple quotes', async () => {
    const chat = await counted();
    await chat.open();
    await chat.say(`one${control('j')}two${KEY.altEnter}three\\${KEY.enter}four`, 'answer 0');
    expect(said(chat)).toBe('one\ntwo\nthree\nfour');
    await chat.say(`"""${KEY.enter}  /quit${KEY.enter}!ls${KEY.enter}"""`, 'answer 1');
    expect(said(chat)).toBe('  /quit\n!ls');
  });

  it('recalls earlier inputs with Up and Ctrl-R, each once, even on another day', async () => {
    const chat = await counted();
    await chat.open();
    await chat.say('apple pie', 'answer 0');
    await chat.say('banana', 'answer 1');
    await chat.say('apple pie', 'answer 2');
    chat.terminal.type(control('d'));
    await chat.terminal.exit();
    await chat.open();
    chat.terminal.type(KEY.up);
    await chat.until(/hi> apple pie$/);
    chat.terminal.type(KEY.up);
    await chat.until(/hi> banana$/);
    chat.terminal.type(KEY.up);
    chat.terminal.type(`${control('r')}app`);
    await chat.until(/\(search\) app: apple pie$/);
    await chat.say('', 'answer 3');
    expect(said(chat)).toBe('apple pie');
  });

  it('completes commands with their arguments, models, skills, and files after @', async () => {
    const chat = await counted();
    mkdirSync(join(chat.home.config, 'skills'));
    writeFileSync(join(chat.home.config, 'skills', 'gardening.md'), '# Gardening\nWater the plants.\n');
    chat.home.write('plan one.txt', 'the plan\n');
    await chat.open();
    chat.terminal.type(`/mo${KEY.tab}scr${KEY.tab}`);
    await chat.until(/hi> \/model scripted$/);
    chat.terminal.type(`${control('u')}/retry s${KEY.tab}`);
    await chat.until(/hi> \/retry scripted$/);
    chat.terminal.type(`${control('u')}/skill g${KEY.tab}`);
    await chat.until(/hi> \/skill gardening$/);
    chat.terminal.type(`${control('u')}/copy c${KEY.tab}`);
    await chat.until(/hi> \/copy code$/);
    chat.terminal.type(`${control('u')}/s${KEY.tab}${KEY.tab}`);
    await chat.until(/\/status +\S[\s\S]*\/skills +\S[\s\S]*hi> \/s$/);
    chat.terminal.type(`${control('u')}read @pl${KEY.tab}`);
    await chat.until(/hi> read @"plan one.txt" ?$/);
  });

  it('opens the whole line in the editor with Ctrl-G', async () => {
    const chat = await counted();
    const editor = join(chat.home.folder, 'edit.sh');
    writeFileSync(editor, '#!/bin/sh\ntr a-z A-Z < "$1" > "$1.new" && mv "$1.new" "$1"\n');
    chmodSync(editor, 0o755);
    await chat.open({ env: { VISUAL: editor, EDITOR: 'false' } });
    chat.terminal.type('draft ');
    chat.terminal.paste(LONG);
    await chat.until(/hi> draft \[LongText#1\]\n#\d[^\n]*$/);
    chat.terminal.type(control('g'));
    await chat.until((screen) => screen.includes('hi> DRAFT LONG TEXT'));
    await chat.say('', 'answer 0');
    expect(said(chat)).toBe(`draft ${LONG}`.toUpperCase());
  });

  it('opens nano, vim or vi if no editor is configured, and says if none is installed', async () => {
    const chat = await counted();
    const programs = join(chat.home.folder, 'programs');
    mkdirSync(programs);
    await chat.open({ env: { PATH: programs, VISUAL: '', EDITOR: '' } });
    chat.terminal.type(`draft${control('g')}`);
    await chat.until(/none of nano, vim and vi is installed[\s\S]*Set VISUAL or EDITOR[\s\S]*hi> draft$/);
    writeFileSync(join(programs, 'vi'), '#!/bin/sh\necho written by vi > "$1"\n', { mode: 0o755 });
    chat.terminal.type(control('g'));
    await chat.until(/hi> written by vi$/);
  });

  it('is edited with emacs keys, by grapheme clusters', async () => {
    const chat = await counted();
    await chat.open();
    chat.terminal.type(`日本😀e\u0301👨‍👩‍👧🇩🇪!${KEY.left}${KEY.left}${KEY.left}${KEY.left}${KEY.left}x`);
    chat.terminal.type(`${control('e')}${KEY.backspace}${KEY.backspace} end${control('a')}start `);
    await chat.say(`${control('e')} word${control('w')}last`, 'answer 0');
    expect(said(chat)).toBe('start 日本x😀e\u0301👨‍👩‍👧 end last');
  });

  it('is redrawn while the terminal is resized, and keeps its text', async () => {
    const chat = await counted();
    await chat.open();
    const words = Array.from({ length: 30 }, (_, index) => `word${index}`).join(' ');
    chat.terminal.type(words);
    await chat.until((screen) => screen.replaceAll('\n', '').endsWith('word29'));
    for (const columns of [37, 120, 20]) {
      chat.terminal.resize(columns, 24);
      await chat.until((screen) =>
        screen
          .split('\n')
          .slice(-30)
          .join('')
          .includes(`hi> ${words.slice(0, 250)}`),
      );
    }
    chat.terminal.type('!');
    chat.terminal.resize(100, 24);
    await chat.say('', 'answer 0');
    expect(said(chat)).toBe(`${words}!`);
  });

  it('works in a terminal of 20 columns and 5 rows', async () => {
    const chat = await counted();
    await chat.open({ columns: 20, rows: 5 });
    const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ');
    chat.terminal.type(words);
    await chat.until((screen) => screen.replaceAll('\n', '').endsWith('word39'));
    chat.terminal.type(control('a'));
    await chat.until('hi> word0');
    await chat.say(`first ${control('e')}`, 'answer 0');
    expect(said(chat)).toBe(`first ${words}`);
  });
});

describe('a paste into hi chat', () => {
  it('is inserted unchanged up to 200 characters, and replaced by a token above it', async () => {
    const chat = await counted();
    await chat.open();
    chat.terminal.paste('😀'.repeat(200));
    chat.terminal.type(' ');
    chat.terminal.paste('😀'.repeat(201));
    chat.terminal.type(' ');
    chat.terminal.paste('b'.repeat(200));
    chat.terminal.type(' ');
    chat.terminal.paste('c'.repeat(201));
    await chat.until(/\[LongText#1\][\s\S]*\[LongText#2\]\n#1: 1 line, 804 bytes · #2: 1 line, 201 bytes$/);
    await chat.say('', 'answer 0');
    expect(said(chat)).toBe(`${'😀'.repeat(200)} ${'😀'.repeat(201)} ${'b'.repeat(200)} ${'c'.repeat(201)}`);
    expect(chat.terminal.screen()).not.toContain('804 bytes');
    chat.terminal.paste('a line of a log\n'.repeat(5000));
    await chat.until(/hi> \[LongText#3\]\n#3: 5,000 lines, 80 kB$/);
  });

  it('replaces tokens once, from left to right; tokens in it, edited ones and unknown ones stay unchanged', async () => {
    const chat = await counted();
    await chat.open();
    chat.terminal.paste(`${LONG} with [LongText#2] inside`);
    chat.terminal.type(' and ');
    chat.terminal.paste(`${LONG} second`);
    chat.terminal.type(' and [LongText#7] and ');
    chat.terminal.paste(`${LONG} third`);
    await chat.until(/hi> \[LongText#1\] and \[LongText#2\] and \[LongText#7\] and \[LongText#3\]\n#\d[^\n]*$/);
    chat.terminal.type(`${KEY.backspace}end`);
    await chat.say('', 'answer 0');
    expect(said(chat)).toBe(`${LONG} with [LongText#2] inside and ${LONG} second and [LongText#7] and end`);
  });

  it('is shown in full when pasted again, and comes back as its token with Up and /undo', async () => {
    const chat = await counted();
    await chat.open();
    chat.terminal.paste(LONG);
    await chat.until('[LongText#1]');
    chat.terminal.paste(LONG);
    await chat.until((screen) => screen.replaceAll('\n', '').includes(`hi> ${LONG}`));
    await chat.say('', 'answer 0');
    chat.terminal.paste(`${LONG} more`);
    await chat.until('[LongText#2]');
    await chat.say('', 'answer 1');
    chat.terminal.type(KEY.up);
    await chat.until(/answer 1\n+hi> \[LongText#2\]\n#\d[^\n]*$/);
    await chat.say('', 'answer 2');
    expect(said(chat)).toBe(`${LONG} more`);
    chat.terminal.type(`/undo${KEY.enter}`);
    await chat.until(/Undone: #5 · [^\n]*\n+hi> \[LongText#2\]\n#\d[^\n]*$/);
    await chat.say('', 'answer 3');
    expect(said(chat)).toBe(`${LONG} more`);
  });

  it('never submits, runs no command and executes no escape sequence', async () => {
    const chat = await counted();
    await chat.open();
    chat.terminal.paste('/quit\n\x1b[31mred\x1b[2J\x07\x03\x04 \x1b]0;title\x07end\n');
    await chat.until(/hi> \/quit\n␛\[31mred␛\[2J␇␃␄ ␛\]0;title␇end$/);
    await chat.say('.', 'answer 0');
    expect(said(chat)).toBe('/quit\n\x1b[31mred\x1b[2J\x07\x03\x04 \x1b]0;title\x07end\n.');
  });

  it('does not end at an end marker in its own text', async () => {
    const chat = await counted();
    await chat.open();
    chat.terminal.paste('one \x1b[201~\n!touch never\nlast');
    await chat.until(/hi> one ␛\[201~\n!touch never\nlast$/);
    await chat.say('', 'answer 0');
    expect(existsSync(join(chat.home.work, 'never'))).toBe(false);
  });

  it('arrives unchanged, however it begins and ends', async () => {
    const chat = await counted();
    await chat.open();
    const texts = [
      '    indented\n    more\n',
      '// one\n// two',
      '"""Docstring.\n\nMore.',
      '"""\nDocstring.\n"""',
      '!important\nlast',
      'one \\\ntwo \\',
    ];
    for (const [index, text] of texts.entries()) {
      chat.terminal.paste(text);
      await chat.until((screen) => screen.endsWith(text.trim().split('\n').at(-1) ?? ''));
      await chat.say('', `answer ${index}`);
      expect(said(chat)).toBe(text);
    }
  });

  it('may be a command if it is one line', async () => {
    const chat = await counted();
    await chat.open({ rows: 80 });
    chat.terminal.paste('/help\n');
    await chat.until('hi> /help');
    await chat.say('', '/help NAME explains a command');
    expect(chat.server.requests).toHaveLength(0);
  });

  it('may be 10 MB', async () => {
    const chat = await counted();
    await chat.open({ args: ['--no-tools'] });
    chat.terminal.paste('0123456789abcde\n'.repeat(655_360));
    await chat.until('[LongText#1]');
    chat.terminal.type(KEY.enter);
    await chat.until(/tokens, but the window of/);
  });

  it('without an end is accepted as far as it came, and the keys work again', async () => {
    const chat = await counted();
    await chat.open();
    chat.terminal.type('\x1b[200~cut off\rin the middle');
    await chat.until(/cut off\nin the middle$/);
    chat.terminal.type('!');
    await chat.until(/in the middle!$/);
    await chat.say('', 'answer 0');
    expect(said(chat)).toBe('cut off\nin the middle!');
  });
});
