import { describe, expect, it } from '@jest/globals';
import MarkdownIt from 'markdown-it';
import { StyledAnswerWriter } from '../../lib/screen/answer-writer.js';
import { Screen } from '../../lib/screen/screen.js';
import { ANSWERS } from '../support/answers.js';
import { createEmulator, type Emulator, transcriptOf } from '../support/emulator.js';
import { fakeStreams } from '../support/fake-streams.js';

const WIDTHS = [100, 40, 120, 30, 72];
const parser = new MarkdownIt({ html: true, linkify: false });

/**
 * The document that a Markdown parser reads, without any white space: where it narrows, the emulator may put the cursor
 * onto the blank before it.
 */
const documentOf = (text: string): string => parser.render(text).replaceAll(/\s/g, '');

/** Pieces of one to nine characters, the same in every run. */
function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  const characters = [...text];
  for (let length = 1; characters.length > 0; length = (length * 7 + 3) % 9 || 1)
    pieces.push(characters.splice(0, length).join(''));
  return pieces;
}

/** xterm.js cuts off what of the cursor's own line does not fit any more, where tmux and others wrap it. */
function canResize({ buffer: { active } }: Emulator, columns: number): boolean {
  const line = active.getLine(active.baseY + active.cursorY);
  return line?.isWrapped === false && active.cursorX < columns;
}

describe('an answer that streams while the window is resized', () => {
  it.concurrent.each(Object.entries(ANSWERS))(
    'is whole, also with something typed below it: %s',
    async (name, answer) => {
      let columns = WIDTHS[0] ?? 80;
      const streams = { ...fakeStreams(true), columns: () => columns };
      const emulator = createEmulator(columns, 24);
      const screen = new Screen(streams, {
        quiet: false,
        styled: StyledAnswerWriter,
        thinking: true,
        now: () => 0,
      });
      let shown = 0;
      const update = async (): Promise<void> => {
        await screen.flush();
        const text = streams.written.both.slice(shown).replaceAll('\n', '\r\n');
        shown = streams.written.both.length;
        await new Promise<void>((done) => emulator.write(text, done));
      };
      const pieces = piecesOf(answer);
      screen.showBelow(['› typed meanwhile']);
      for (const [index, piece] of pieces.entries()) {
        screen.show({ type: 'text', text: piece });
        await update();
        const next = WIDTHS[Math.floor((index * WIDTHS.length) / pieces.length)] ?? columns;
        if (next === columns || !canResize(emulator, next)) continue;
        columns = next;
        emulator.resize(columns, 24);
      }
      screen.close();
      await update();
      const transcript = transcriptOf(emulator);
      expect(transcript).not.toContain('› typed');
      // A table that does not fit is laid out anew.
      if (name === 'tables') for (const word of answer.match(/[a-z]+/gi) ?? []) expect(transcript).toContain(word);
      else expect(documentOf(transcript)).toBe(documentOf(answer));
    },
  );
});
