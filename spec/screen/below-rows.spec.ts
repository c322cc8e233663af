import { describe, expect, it } from '@jest/globals';
import { StyledAnswerWriter } from '../../lib/screen/answer-writer.js';
import { Screen } from '../../lib/screen/screen.js';
import { createEmulator, screenOf, transcriptOf } from '../support/emulator.js';
import { fakeStreams } from '../support/fake-streams.js';
import fc, { cases } from '../support/properties.js';

const ROWS = 8;

/** A screen on an emulated terminal. */
function screenOn(columns: number) {
  const streams = fakeStreams(true, columns);
  const screen = new Screen(streams, {
    quiet: false,
    styled: StyledAnswerWriter,
    // The other way shows a word later or earlier by the clock.
    settings: { wrap: 'terminal', waiting: 'animated' },
    thinking: true,
    now: () => 0,
  });
  const emulator = createEmulator(columns, ROWS);
  let shown = 0;
  const update = async (): Promise<void> => {
    await screen.flush();
    const text = streams.written.both.slice(shown).replaceAll('\n', '\r\n');
    shown = streams.written.both.length;
    await new Promise<void>((done) => emulator.write(text, done));
  };
  return { screen, emulator, update };
}

/** What happens during an answer: a piece of it, a notice, or rows below. */
const step = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('word ', 'longer-word ', 'a ', '\n', '\n\n- ', '**bold** ', '日本 ', 'x') },
  { weight: 1, arbitrary: fc.constant(null) },
  { weight: 3, arbitrary: fc.array(fc.constantFrom('› typed', 'queued: one', 'a'), { maxLength: 3 }) },
);

describe('rows below an answer', () => {
  it('leave the answer as without them, whatever is written when', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), fc.integer({ min: 12, max: 40 }), async (steps, columns) => {
        const [withRows, without] = [screenOn(columns), screenOn(columns)];
        for (const one of steps) {
          for (const { screen, update } of [withRows, without]) {
            if (typeof one === 'string') screen.show({ type: 'text', text: one });
            else if (one === null) screen.notice('a notice', 'info');
            else if (screen === withRows.screen) screen.showBelow(one);
            await update();
          }
        }
        for (const { screen, update } of [withRows, without]) {
          screen.close();
          await update();
        }
        expect(transcriptOf(withRows.emulator)).toBe(transcriptOf(without.emulator));
      }),
      { numRuns: cases(60) },
    );
  });

  it('are below the current row, even at the end of the screen', async () => {
    const { screen, emulator, update } = screenOn(40);
    screen.show({ type: 'text', text: `${'line\n'.repeat(ROWS)}and then ` });
    screen.showBelow(['queued: one', '› typed']);
    await update();
    expect(screenOf(emulator)).toMatch(/line\nand then \nqueued: one\n› typed$/);
    screen.show({ type: 'text', text: 'more\n\nof it' });
    await update();
    expect(screenOf(emulator)).toMatch(/and then more\n\nof it\nqueued: one\n› typed$/);
    screen.close();
    await update();
    expect(screenOf(emulator)).toMatch(/and then more\n\nof it$/);
  });

  it('wait while the row is full, because the next character starts a new one', async () => {
    const { screen, emulator, update } = screenOn(12);
    screen.show({ type: 'text', text: 'twelve chars' });
    await update();
    screen.showBelow(['› typed']);
    await update();
    expect(screenOf(emulator)).toBe('twelve chars');
    screen.show({ type: 'text', text: ' and' });
    await update();
    expect(screenOf(emulator)).toBe('twelve chars\n and\n› typed');
  });
});
