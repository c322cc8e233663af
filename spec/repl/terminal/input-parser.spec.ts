import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { InputParser } from '../../../lib/repl/terminal/input-parser.js';
import fc from '../../support/properties.js';

/** A parser and, in order, what it reported. */
function listen() {
  const reported: string[] = [];
  const parser = new InputParser({
    key: (text, key) => reported.push(`key ${key.ctrl ? 'C-' : ''}${key.meta ? 'M-' : ''}${key.name ?? text}`),
    escape: () => reported.push('escape'),
    paste: (text) => reported.push(`paste ${JSON.stringify(text)}`),
    background: (colour) => reported.push(`background ${colour}`),
    settled() {},
  });
  return { parser, reported };
}

/** Writes it in pieces of these lengths, and the rest at once; then there is no more. */
function write(parser: InputParser, whole: string | Buffer, lengths: readonly number[]): void {
  let at = 0;
  for (const length of lengths) {
    parser.write(whole.slice(at, at + length));
    at += length;
  }
  parser.write(whole.slice(at));
  parser.close();
}

describe('terminal input', () => {
  it('is keys and pastes in their order', () => {
    const { parser, reported } = listen();
    parser.write('a\x1b[200~b\rc\x1b[201~\x1b[D\x03');
    expect(reported).toEqual(['key a', 'paste "b\\nc"', 'key left', 'key C-c']);
    parser.close();
  });

  it('contains the background colour between keys, however it is split and ended', () => {
    const whole = 'a\x1b]11;rgb:ffff/ffff/dddd\x1b\\b\x1b]11;rgb:00/00/00\x07c';
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 3, max: 9 }), { maxLength: 20 }), (lengths) => {
        const { parser, reported } = listen();
        write(parser, whole, lengths);
        expect(reported).toEqual([
          'key a',
          'background rgb:ffff/ffff/dddd',
          'key b',
          'background rgb:00/00/00',
          'key c',
        ]);
      }),
    );
  });

  it.each([1, 2, 3, 4, 5, 12])(
    'waits for the rest of the colour of the background after %i characters',
    async (cut) => {
      const { parser, reported } = listen();
      const whole = '\x1b]11;rgb:ffff/ffff/dddd\x1b\\';
      parser.write(whole.slice(0, cut));
      await delay(150);
      parser.write(whole.slice(cut));
      parser.write('a');
      expect(reported.filter((report) => report !== 'escape')).toEqual(['background rgb:ffff/ffff/dddd', 'key a']);
      parser.close();
    },
  );

  it('returns Alt-] at once if the terminal has answered', async () => {
    const { parser, reported } = listen();
    parser.write('\x1b]11;rgb:00/00/00\x07\x1b]');
    await delay(150);
    expect(reported).toEqual(['background rgb:00/00/00', 'key M-']);
    parser.close();
  });

  it('drops a background colour without an end, and no key after it', async () => {
    const { parser, reported } = listen();
    parser.write('\x1b]11;rgb:ffff');
    await delay(1100);
    parser.write('a');
    expect(reported).toEqual(['key a']);
    parser.close();
  });

  it("contains the terminal's attributes if they were requested, however they are split, but never in a paste", () => {
    const whole = 'a\x1b[200~\x1b[?9c\x1b[201~b\x1b[?62;4;22cc';
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 20 }), (lengths) => {
        const { parser, reported } = listen();
        const told: string[] = [];
        parser.expectAttributes((attributes) => told.push(attributes));
        write(parser, whole, lengths);
        expect(reported).toEqual(['key a', 'paste "\\u001b[?9c"', 'key b', 'key c']);
        expect(told).toEqual(['62;4;22']);
      }),
    );
  });

  it('treats nothing in a paste as a key or an end', () => {
    const { parser, reported } = listen();
    parser.write('\x1b[200~\x03\x1b[A\x1b[200~\x1b[20\x1b\x1b[201~');
    expect(reported).toEqual(['paste "\\u0003\\u001b[A\\u001b[200~\\u001b[20\\u001b"']);
    parser.close();
  });

  it('returns the same paste however it is split, even within a character', () => {
    const piece = fc.constantFrom('a', 'é', '😀', '\r', '\r\n', '\x1b[A', '\x1b[20', '\x1b[31m');
    const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 40 }), (pasted, lengths) => {
        const { parser, reported } = listen();
        write(parser, Buffer.from(`\x1b[200~${pasted}\x1b[201~`), lengths);
        expect(reported).toEqual([`paste ${JSON.stringify(pasted.replace(/\r(?!\n)/g, '\n'))}`]);
      }),
    );
  });

  it('distinguishes Escape from the beginning of a sequence', async () => {
    const { parser, reported } = listen();
    parser.write('\x1b');
    parser.write('[A');
    parser.write('\x1b');
    await delay(100);
    expect(reported).toEqual(['key up', 'escape']);
    parser.close();
  });

  it('continues after a paste whose end never comes, and sends nothing that still arrives in large chunks', async () => {
    const { parser, reported } = listen();
    parser.write('\x1b[200~one\rtwo');
    await delay(1100);
    parser.write('three\rfour\r');
    parser.write('\r');
    expect(reported).toEqual(['paste "one\\ntwo"', 'paste "three\\nfour\\n"', 'key return']);
    parser.close();
  });

  it('stops waiting for the end of a paste on Ctrl-C', () => {
    const { parser, reported } = listen();
    parser.write('\x1b[200~one');
    parser.write('\x03');
    expect(reported).toEqual(['paste "one"', 'key C-c']);
    parser.close();
  });
});
