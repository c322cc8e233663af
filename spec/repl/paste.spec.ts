import { describe, expect, it } from '@jest/globals';
import { replDriver } from '../support/repl-terminal.js';
import { KEY } from '../support/terminal.js';

const start = replDriver();
const LONG = 'long text '.repeat(21).trim();

describe('a bracketed paste', () => {
  it('never submits, and short ones stay as they are', async () => {
    const { terminal, submitted } = await start();
    terminal.paste('one\ntwo\n');
    await terminal.until((screen) => screen === 'hi> one\ntwo');
    terminal.type('three\r');
    await terminal.until('echo');
    expect(submitted()).toEqual([
      { shown: 'one\ntwo\nthree', text: 'one\ntwo\nthree', pasted: [{ start: 0, end: 8 }] },
    ]);
  });

  it('of exactly 200 characters stays, of 201 becomes a token', async () => {
    const { terminal, submitted } = await start();
    terminal.paste('😀'.repeat(200));
    terminal.type(' ');
    terminal.paste('😀'.repeat(201));
    await terminal.until('[LongText#1]');
    terminal.type('\r');
    await terminal.until('echo');
    expect(submitted()[0]?.shown).toBe(`${'😀'.repeat(200)} [LongText#1]`);
    expect(submitted()[0]?.text).toBe(`${'😀'.repeat(200)} ${'😀'.repeat(201)}`);
  });

  it('keeps tokens apart, in one line and in the next ones', async () => {
    const { terminal, submitted } = await start();
    terminal.paste(`${LONG}A`);
    terminal.type(' and ');
    terminal.paste(`${LONG}B`);
    await terminal.until('hi> [LongText#1] and [LongText#2]');
    terminal.type(`${KEY.backspace}\r`);
    await terminal.until(/echo[\s\S]*hi>$/);
    terminal.paste(`${LONG}C`);
    await terminal.until('[LongText#3]');
    terminal.type('\r');
    await terminal.until(/echo[\s\S]*echo/);
    expect(submitted().map(({ text }) => text)).toEqual([`${LONG}A and `, `${LONG}C`]);
  });

  it('is recalled in full', async () => {
    const { terminal, submitted } = await start();
    terminal.paste(LONG + LONG);
    terminal.type('\r');
    await terminal.until(/echo[\s\S]*hi>$/);
    terminal.type(KEY.up);
    await terminal.until('text long text');
    terminal.type('\r');
    await terminal.until(/echo[\s\S]*echo/);
    expect(submitted()[1]?.text).toBe(LONG + LONG);
  });

  it('opens when it is pasted again', async () => {
    const { terminal } = await start();
    terminal.paste(LONG);
    await terminal.until('[LongText#1]');
    terminal.paste(LONG);
    await terminal.until((screen) => screen.replaceAll('\n', '') === `hi> ${LONG}`);
  });

  it('shows escape sequences and sends them as they were', async () => {
    const { terminal, submitted } = await start();
    terminal.paste('red \x1b[31m\x07 end');
    await terminal.until('hi> red ␛[31m␇ end');
    terminal.type('\r');
    await terminal.until('echo');
    expect(submitted()[0]?.text).toBe('red \x1b[31m\x07 end');
  });

  it('may be 10 MB', async () => {
    const { terminal, submitted } = await start();
    terminal.paste('0123456789abcde\n'.repeat(655_360));
    await terminal.until('[LongText#1]', 20_000);
    terminal.type('\r');
    await terminal.until('echo', 20_000);
    expect(submitted()[0]?.text).toHaveLength(10_485_760);
  });

  it('waits for the end of the answer when it comes before', async () => {
    const { terminal } = await start();
    terminal.type('silent 300\r');
    terminal.paste('pasted\nahead');
    await terminal.until(/silence is over\n\nhi> pasted\nahead$/);
  });
});
