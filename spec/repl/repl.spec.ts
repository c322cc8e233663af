import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { replDriver } from '../support/repl-terminal.js';
import { control, KEY } from '../support/terminal.js';

const start = replDriver();
const prompts = (screen: string): number => screen.split('hi>').length - 1;

describe('the repl', () => {
  it('shows the answer below the line and a new prompt after it', async () => {
    const { terminal } = await start();
    terminal.type('say hello there\r');
    await terminal.until((screen) => prompts(screen) === 2);
    expect(terminal.transcript()).toBe('hi> say hello there\nhello there\n\nhi>');
  });

  it('sends what was typed', async () => {
    const { terminal, submitted } = await start();
    terminal.type('ab\x1b[Dx\r');
    await terminal.until('echo');
    expect(submitted()).toEqual([{ shown: 'axb', text: 'axb', pasted: [] }]);
  });

  it('exits with 0 on Ctrl-D and on quit', async () => {
    const first = await start();
    first.terminal.type(control('d'));
    expect(await first.terminal.exit()).toEqual({ status: 0, signal: 0 });
    const second = await start();
    second.terminal.type('/quit\r');
    expect(await second.terminal.exit()).toEqual({ status: 0, signal: 0 });
  });

  it('exits with 130 on Ctrl-C twice, with a hint in between', async () => {
    const { terminal } = await start();
    terminal.type(control('c'));
    await terminal.until('Press Ctrl-C again to exit.');
    terminal.type(control('c'));
    expect((await terminal.exit()).status).toBe(130);
  });

  it('removes the hint with the next key', async () => {
    const { terminal } = await start();
    terminal.type(control('c'));
    await terminal.until('again to exit');
    terminal.type('x');
    await terminal.until((screen) => screen === 'hi> x');
  });

  it('clears the line on Ctrl-C', async () => {
    const { terminal } = await start();
    terminal.type('some words');
    await terminal.until('some words');
    terminal.type(control('c'));
    await terminal.until((screen) => screen === 'hi>');
    expect(terminal.cursor()).toEqual({ row: 0, column: 4 });
  });

  it.each([
    ['Ctrl-C', control('c')],
    ['Escape', KEY.escape],
  ])('stops the answer on %s and keeps the partial answer', async (_, key) => {
    const { terminal } = await start();
    terminal.type('slow\r');
    await terminal.until('word5 ');
    terminal.type(key);
    await terminal.until(/\(interrupted\)\n\nhi>$/);
    terminal.type('say still here\r');
    await terminal.until(/\nstill here\n/);
  });

  it('keeps what is typed during an answer for the next prompt', async () => {
    const { terminal, submitted } = await start();
    terminal.type('silent 400\r');
    terminal.type('next');
    await terminal.until(/silence is over\n\nhi> next$/);
    terminal.type('\r');
    await terminal.until('echo');
    expect(submitted().at(-1)?.text).toBe('next');
  });

  it('sends a line that was entered during an answer after it', async () => {
    const { terminal } = await start();
    terminal.type('silent 300\r');
    terminal.type('say me too\r');
    await terminal.until(/silence is over\n\nhi> say me too\nme too\n\nhi>$/);
  });

  it('puts a line that was entered during an answer back into the prompt when the answer is stopped', async () => {
    const { terminal, submitted } = await start();
    terminal.type('slow\r');
    await terminal.until('word2 ');
    terminal.type('say no\r');
    terminal.type(control('c'));
    await terminal.until(/interrupted\)\n\nhi> say no$/);
    expect(submitted()).toHaveLength(1);
  });

  it('styles the answer as Markdown and colours its code', async () => {
    const { terminal } = await start();
    terminal.paste('say some **strong** words\n```python\ndef f(x):\n    return "text"\n```\n');
    terminal.type('\r');
    await terminal.until(/```\n\nhi>$/);
    expect(terminal.transcript()).toMatch(
      /\nsome \*\*strong\*\* words\n```python\ndef f\(x\):\n {4}return "text"\n```\n\nhi>$/,
    );
    expect(terminal.written()).toContain('\x1b[0;35mdef\x1b[0m \x1b[0;94mf\x1b[0m(');
    expect(terminal.written()).toContain('\x1b[0;1mstrong\x1b[0;2m**');
  });

  it('shows an error and continues', async () => {
    const { terminal } = await start();
    terminal.type('fail the server is busy\r');
    await terminal.until(/hi: the server is busy\n {4}Try again later\.\n\nhi>$/);
  });

  it('asks a question without losing what was typed', async () => {
    const { terminal } = await start();
    terminal.type('question everything\r');
    terminal.type('typed ahead');
    await terminal.until('Allow everything?');
    terminal.type('y\r');
    await terminal.until(/answered true\n\nhi> typed ahead$/);
  });

  it('cancels the question with the turn on Ctrl-C', async () => {
    const { terminal } = await start();
    terminal.type('question everything\r');
    await terminal.until('Allow everything?');
    terminal.type(control('c'));
    await terminal.until(/\(interrupted\)\n\nhi>$/);
  });

  it.each([
    ['leaves its line unfinished', 'printf foo', /\nfoo *\n+hi>$/],
    ['ends its line', 'echo foo', /\nfoo\n\nhi>$/],
  ])('resumes below the output of another program that %s', async (_, command, screen) => {
    const { terminal } = await start();
    terminal.type(`lend ${command}\r`);
    await terminal.until(screen);
  });

  it('ignores a Ctrl-C for another program even if the signal arrives after its end', async () => {
    const { terminal } = await start();
    terminal.type('lend kill -INT $PPID\r');
    await terminal.until(/\n\nhi>$/);
    terminal.type('say still here\r');
    await terminal.until(/\nstill here\n\nhi>$/);
  });

  it('stops the answer if Ctrl-C comes among other keys of a question', async () => {
    const { terminal } = await start();
    terminal.type('question everything\r');
    await terminal.until('Allow everything?');
    terminal.type(`y${control('c')}`);
    await terminal.until(/\(interrupted\)\n\nhi>$/);
  });

  it('lets a command put text into the prompt', async () => {
    const { terminal } = await start();
    terminal.type('prefill once more\r');
    await terminal.until(/hi> once more$/);
  });
});

describe('the terminal', () => {
  it('may close: the answer is ended, and unsent text is kept', async () => {
    const { terminal, folder } = await start();
    terminal.type('slow\r');
    await terminal.until('word3');
    terminal.type('unsent');
    await terminal.until('word20');
    terminal.hangUp();
    expect(await terminal.exit()).toEqual({ status: 0, signal: constants.signals.SIGHUP });
    expect(readFileSync(join(folder, 'log.ended'), 'utf8')).toBe('interrupted');
    expect(readFileSync(join(folder, 'inputs'), 'utf8')).toBe('"slow"\n"unsent"\n');
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('is given back on %s', async (signal, status) => {
    const { terminal } = await start();
    terminal.signal(signal);
    expect((await terminal.exit()).status).toBe(status);
    expect(terminal.written()).toMatch(/\x1b\[\?2004l/);
  });

  it('is restored after a crash', async () => {
    const { terminal } = await start();
    terminal.type('crash\r');
    expect((await terminal.exit()).status).toBe(1);
    expect(terminal.written()).toMatch(/\x1b\[\?2004l\x1b\[0m\x1b\[\?25h/);
  });
});
