import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { replDriver } from '../support/repl-terminal.js';
import { control, KEY } from '../support/terminal.js';

const start = replDriver();

describe('several lines', () => {
  it.each([
    ['Ctrl-J', control('j')],
    ['Alt-Enter', KEY.altEnter],
    ['a trailing backslash', '\\\r'],
    ['Shift-Enter where the terminal tells', '\x1b[13;2u'],
  ])('are written with %s', async (_, key) => {
    const { terminal, submitted } = await start();
    terminal.type(`one${key}`);
    await terminal.until((screen) => screen === 'hi> one');
    terminal.type('two\r');
    await terminal.until('echo');
    expect(submitted()[0]?.text).toBe('one\ntwo');
    expect(terminal.transcript()).toMatch(/^hi> one\ntwo\necho/);
  });

  it('are written between triple quotes, where a slash is no command', async () => {
    const { terminal, submitted } = await start();
    terminal.type('"""\r/quit\rmore\r"""\r');
    await terminal.until('echo');
    expect(submitted()[0]).toMatchObject({ shown: '"""\n/quit\nmore\n"""', text: '/quit\nmore' });
  });
});

describe('earlier inputs', () => {
  it('come back with Up, even those of earlier days, each once', async () => {
    const first = await start();
    first.terminal.type('say one\rsay two\rsay one\r');
    await first.terminal.until(/two[\s\S]*one[\s\S]*hi>$/);
    first.terminal.type(control('d'));
    await first.terminal.exit();
    const { terminal } = await start({ folder: first.folder });
    terminal.type(KEY.up);
    await terminal.until(/hi> say one$/);
    terminal.type(KEY.up);
    await terminal.until(/hi> say two$/);
    terminal.type(KEY.up + KEY.down + KEY.down + KEY.down);
    await terminal.until(/hi>$/);
  });

  it('insert their last words with Alt-., older ones if it is pressed again', async () => {
    const { terminal } = await start();
    terminal.type('say one\rsay two\r');
    await terminal.until(/two\n\nhi>$/);
    terminal.type('say \x1b.');
    await terminal.until(/hi> say two$/);
    terminal.type('\x1b.');
    await terminal.until(/hi> say one$/);
    terminal.type('!\x1b.');
    await terminal.until(/hi> say one!two$/);
  });

  it('are searched with Ctrl-R', async () => {
    const { terminal } = await start();
    terminal.type('say apple pie\rsay banana\rsay apple tart\r');
    await terminal.until(/apple tart\n\nhi>$/);
    terminal.type(`${control('r')}apple`);
    await terminal.until(/\(search\) apple: say apple tart$/);
    terminal.type(control('r'));
    await terminal.until(/\(search\) apple: say apple pie$/);
    terminal.type(KEY.end);
    await terminal.until(/hi> say apple pie$/);
    terminal.type(` to go\r`);
    await terminal.until('\napple pie to go');
  });

  it('are left unchanged if the search is cancelled', async () => {
    const { terminal } = await start();
    terminal.type('say apple\rdraft');
    await terminal.until(/hi> draft$/);
    terminal.type(`${control('r')}app`);
    await terminal.until('(search) app: say apple');
    terminal.type(KEY.escape);
    await terminal.until(/hi> draft$/);
    terminal.type(`${control('r')}nowhere`);
    await terminal.until('(no match) nowhere:');
    terminal.type(control('c'));
    await terminal.until(/hi> draft$/);
  });

  it('are entered from the search with Enter', async () => {
    const { terminal } = await start();
    terminal.type('say again\r');
    await terminal.until(/again\n\nhi>$/);
    terminal.type(`${control('r')}aga\r`);
    await terminal.until(/hi> say again\nagain\n\nhi> say again\nagain\n\nhi>$/);
  });
});

describe('Tab', () => {
  it('completes a command, lists those with the same beginning, and completes what they have in common', async () => {
    const { terminal } = await start();
    terminal.type(`/q${KEY.tab}`);
    await terminal.until('hi> /quit');
    terminal.type(`${control('u')}/m${KEY.tab}`);
    await terminal.until(/hi> \/mode$/);
    terminal.type(KEY.tab);
    await terminal.until(/^\/model +Changes the model\.\n\/modest +Exists to begin like another\.\nhi> \/mode$/);
  });

  it('completes the argument of a command', async () => {
    const { terminal } = await start();
    terminal.type(`/model s${KEY.tab}`);
    await terminal.until('hi> /model small-');
    terminal.type(`f${KEY.tab}`);
    await terminal.until('hi> /model small-fast');
  });

  it('completes paths after @, quoted if they contain blanks', async () => {
    const { terminal, folder } = await start();
    mkdirSync(join(folder, 'sub folder'));
    writeFileSync(join(folder, 'sub folder', 'notes.txt'), '');
    writeFileSync(join(folder, 'report-one.md'), '');
    writeFileSync(join(folder, 'report-two.md'), '');
    terminal.type(`read @rep${KEY.tab}`);
    await terminal.until('hi> read @report-');
    terminal.type(KEY.tab);
    await terminal.until(/^report-one\.md +report-two\.md\nhi> read @report-$/);
    terminal.type(`t${KEY.tab}and @su${KEY.tab}`);
    await terminal.until('hi> read @report-two.md and @"sub folder/');
    terminal.type(`n${KEY.tab}`);
    await terminal.until('@"sub folder/notes.txt"');
  });

  it('does nothing if there is nothing to complete', async () => {
    const { terminal } = await start();
    terminal.type(`/zzz${KEY.tab}!`);
    await terminal.until((screen) => screen === 'hi> /zzz!');
  });
});

describe('the editor', () => {
  it('opens the whole line with Ctrl-G, and the saved text comes back', async () => {
    const { terminal, folder } = await start({ editor: './edit.sh --wait' });
    writeFileSync(join(folder, 'edit.sh'), '#!/bin/sh\ncp "$2" seen\nprintf "edited\\nby %s\\n" "$1" > "$2"\n');
    chmodSync(join(folder, 'edit.sh'), 0o755);
    terminal.type('draft ');
    terminal.paste('p'.repeat(201));
    await terminal.until('draft [LongText#1]');
    terminal.type(control('g'));
    await terminal.until(/^hi> edited\nby --wait$/);
    terminal.type('!\r');
    await terminal.until('echo');
    expect(terminal.transcript()).toMatch(/^hi> edited\nby --wait!\n/);
  });

  it('leaves the line unchanged if it fails, and says so', async () => {
    const { terminal } = await start({ editor: 'false' });
    terminal.type(`draft${control('x')}${control('e')}`);
    await terminal.until(/The editor 'false' exited with status 1\.\n.*\nhi> draft$/);
  });
});

describe('the screen', () => {
  it('is cleared with Ctrl-L except for the line', async () => {
    const { terminal } = await start();
    terminal.type('say something\rhalf a line');
    await terminal.until(/hi> half a line$/);
    terminal.type(control('l'));
    await terminal.until((screen) => screen === 'hi> half a line');
  });

  it('keeps the cursor in place next to wide characters, emoji and combining marks', async () => {
    const { terminal } = await start();
    terminal.type(`日本😀e\u0301!${KEY.left}${KEY.left}${KEY.left}`);
    await terminal.until('日本😀e\u0301!');
    await terminal.until(() => terminal.cursor().column === 4 + 4);
    terminal.type('x');
    await terminal.until('日本x😀e\u0301!');
  });

  it('is redrawn when the terminal is resized', async () => {
    const { terminal } = await start();
    const words = 'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt';
    terminal.type(words);
    await terminal.until('incididunt');
    for (const columns of [60, 110, 40]) {
      terminal.resize(columns, 24);
      await terminal.until(
        (screen) =>
          screen.replaceAll('\n', '') === `hi> ${words}` &&
          screen.split('\n')[0]?.length === Math.min(columns, words.length + 4),
      );
    }
  });
});
