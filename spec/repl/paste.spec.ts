import { describe, expect, it } from '@jest/globals';
import { replDriver } from '../support/repl-terminal.js';
import { control, KEY } from '../support/terminal.js';

const start = replDriver();
/** A paste by a terminal that leaves newlines as they are. */
const verbatim = (text: string): string => `\x1b[200~${text}\x1b[201~`;
const LONG = 'long text '.repeat(21).trim();

describe('a bracketed paste', () => {
  it('never submits, and short ones stay unchanged', async () => {
    const { terminal, submitted } = await start();
    terminal.paste('one\ntwo\n');
    await terminal.until((screen) => screen === 'hi> one\ntwo');
    terminal.type('three\r');
    await terminal.until('echo');
    expect(submitted()).toEqual([
      { shown: 'one\ntwo\nthree', text: 'one\ntwo\nthree', pasted: [{ start: 0, end: 8 }] },
    ]);
  });

  it('of exactly 200 characters stays, one of 201 becomes a token', async () => {
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

  it('keeps tokens distinct, in one line and in later ones', async () => {
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

  it('is recalled as its token, in full, with Up and with Ctrl-R', async () => {
    const { terminal, submitted } = await start();
    terminal.type('see ');
    terminal.paste(`${LONG}A`);
    terminal.type(' and ');
    terminal.paste(`${LONG}AB`);
    terminal.type('\r');
    await terminal.until(/echo[\s\S]*hi>$/);
    terminal.type(KEY.up);
    await terminal.until(/echo[\s\S]*hi> see \[LongText#1\] and \[LongText#2\]\n#\d[^\n]*$/);
    terminal.type(`${KEY.backspace}\r`);
    await terminal.until(/(echo[\s\S]*){2}hi>$/);
    terminal.type(`${control('r')}see`);
    await terminal.until(/\(search\) see: see \[LongText#1\] and\s+#1: [^\n]*$/);
    terminal.type(`${control('r')}\r`);
    await terminal.until(/(echo[\s\S]*){3}hi>$/);
    const [first, second, third] = submitted();
    expect(first?.text).toBe(`see ${LONG}A and ${LONG}AB`);
    expect(second?.text).toBe(`see ${LONG}A and `);
    expect(third).toEqual(first);
  });

  it.each(['!touch one\ntouch two', '/reset\nnow\n', `!${LONG}\nend`, '"""\nquoted\n"""'])(
    'of several lines is text when it is recalled too: %j',
    async (pasted) => {
      const { terminal, submitted } = await start();
      terminal.paste(pasted);
      terminal.type('\r');
      await terminal.until(/echo[\s\S]*hi>$/);
      terminal.type(KEY.up);
      await terminal.until(/hi> """\n[^"]*("""\nquoted\n"""\n)?[^"]*"""(\n#1: [^\n]*)?$/);
      terminal.type('\r');
      await terminal.until(/(echo[\s\S]*){2}hi>$/);
      const [first, again] = submitted();
      expect(again?.text).toBe(first?.text);
      expect(again?.shown.startsWith('"""\n')).toBe(true);
    },
  );

  it('that is shown in full leaves no more than a screenful in the scrollback', async () => {
    const { terminal, submitted } = await start({ rows: 12 });
    const long = Array.from({ length: 5000 }, (_, line) => `line ${line}`).join('\n');
    terminal.paste(long);
    await terminal.until('[LongText#1]');
    terminal.paste(long);
    await terminal.until('line 4999');
    terminal.type('\r');
    await terminal.until(/echo[\s\S]*hi>$/);
    expect(submitted()[0]?.text).toBe(long);
    expect(terminal.transcript()).toMatch(/line 9\n… 4,990 more lines\necho/);
    expect(terminal.transcript().split('\n').length).toBeLessThan(30);
  });

  it('is shown in full if it is pasted again', async () => {
    const { terminal } = await start();
    terminal.paste(LONG);
    await terminal.until('[LongText#1]');
    terminal.paste(LONG);
    await terminal.until((screen) => screen.replaceAll('\n', '') === `hi> ${LONG}`);
  });

  it('shows escape sequences and sends them unchanged', async () => {
    const { terminal, submitted } = await start();
    terminal.paste('red \x1b[31m\x07 end');
    await terminal.until('hi> red ␛[31m␇ end');
    terminal.type('\r');
    await terminal.until('echo');
    expect(submitted()[0]?.text).toBe('red \x1b[31m\x07 end');
  });

  it('keeps its CRLF, in the line and in what is sent; a lone return is a newline', async () => {
    const { terminal, submitted } = await start();
    terminal.type(verbatim('one\r\ntwo\rthree\r\n'));
    await terminal.until((screen) => screen === 'hi> one\ntwo\nthree');
    terminal.type('four\r');
    await terminal.until('echo');
    expect(submitted()[0]?.text).toBe('one\r\ntwo\nthree\r\nfour');
  });

  it('keeps its CRLF behind a token, and when it is recalled, even by the next process', async () => {
    const first = await start();
    const text = 'a line\r\n'.repeat(40);
    first.terminal.type(verbatim(text));
    await first.terminal.until('hi> [LongText#1]');
    first.terminal.type('\r');
    await first.terminal.until(/echo[\s\S]*hi>$/);
    first.terminal.type(`${KEY.up}\r`);
    await first.terminal.until(/(echo[\s\S]*){2}hi>$/);
    const second = await start({ folder: first.folder });
    second.terminal.type(`${KEY.up}\r`);
    await second.terminal.until('echo');
    expect(second.submitted().map((line) => line.text)).toEqual([text, text, text]);
  });

  it('treats CRLF as one newline when moving, deleting and cutting', async () => {
    const { terminal, submitted } = await start();
    terminal.type(verbatim('one\r\ntwo\r\nthree'));
    await terminal.until('three');
    terminal.type(
      `${KEY.up}${control('e')}!${KEY.up}${control('e')}!${control('k')}${KEY.down}?${control('a')}${KEY.backspace}\r`,
    );
    await terminal.until('echo');
    expect(submitted()[0]?.text).toBe('one!two!thre?e');
  });

  it('may be 10 MB', async () => {
    const { terminal, submitted } = await start();
    terminal.paste('0123456789abcde\n'.repeat(655_360));
    await terminal.until('[LongText#1]', 20_000);
    terminal.type('\r');
    await terminal.until('echo', 20_000);
    expect(submitted()[0]?.text).toHaveLength(10_485_760);
  });

  it('waits for the end of the answer if one is streaming', async () => {
    const { terminal } = await start();
    terminal.type('silent 300\r');
    terminal.paste('pasted\nahead');
    await terminal.until(/silence is over\n\nhi> pasted\nahead$/);
  });
});
