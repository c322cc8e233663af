import { describe, expect, it } from '@jest/globals';
import { displayText } from '../../../lib/repl/drawing/line-layout.js';
import { LineRenderer } from '../../../lib/repl/drawing/line-renderer.js';
import { bufferOf, type EditBuffer, EMPTY_BUFFER, insert, moveCursor } from '../../../lib/repl/editing/edit-buffer.js';
import { createEmulator, type Emulator, screenOf, transcriptOf } from '../../support/emulator.js';
import fc, { cases } from '../../support/properties.js';

const PROMPT = 'hi> ';

/** A renderer whose canvas is an emulator. */
function setUp(
  columns: number,
  rows: number,
): { renderer: LineRenderer; emulator: Emulator; settled(): Promise<void> } {
  const emulator = createEmulator(columns, rows);
  const renderer = new LineRenderer(
    { columns: () => emulator.cols, rows: () => emulator.rows, write: (text) => emulator.write(text) },
    false,
  );
  return { renderer, emulator, settled: () => written(emulator, '') };
}

const written = (emulator: Emulator, text: string): Promise<void> =>
  new Promise((resolve) => emulator.write(text, resolve));

/** What a terminal shows, and where its cursor is, when the line is simply written there. */
async function plainly(buffer: EditBuffer, columns: number, rows: number): Promise<{ screen: string; cursor: string }> {
  const lines = (text: string): string => displayText(`${PROMPT}${text}`).replaceAll('\n', '\r\n');
  const whole = createEmulator(columns, rows);
  await written(whole, lines(buffer.text));
  const before = createEmulator(columns, rows);
  await written(before, lines(buffer.text.slice(0, buffer.cursor)));
  const next = buffer.text.slice(buffer.cursor);
  // Where the next character would go: after a full row, or when the next one is too wide for what is left, that is the
  // next row.
  if (next === '' || !next.startsWith('\n')) await written(before, `${displayText([...next][0] ?? 'x')}`);
  const width = next === '' ? 1 : next.startsWith('\n') ? 0 : /[日😀]/u.test([...next][0] ?? '') ? 2 : 1;
  return { screen: screenOf(whole), cursor: cursorOf(before, width) };
}

function cursorOf(emulator: Emulator, back = 0): string {
  const { cursorX, cursorY } = emulator.buffer.active;
  return `${cursorY}:${cursorX - back}`;
}

const character = fc.constantFrom('a', 'b', ' ', '\n', '日', '😀', 'é', '\x1b');
const text = fc.array(character, { maxLength: 30 }).map((characters) => characters.join(''));

describe('the renderer', () => {
  it('leaves the terminal as if the line had simply been written, including the cursor, after any edits', async () => {
    const step = fc.record({ text, at: fc.nat(40), isTyped: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 10, max: 30 }),
        async (steps, columns) => {
          const { renderer, emulator, settled } = setUp(columns, 60);
          let buffer: EditBuffer = EMPTY_BUFFER;
          for (const next of steps) {
            const boundary = [...buffer.text].slice(0, next.at).join('').length;
            buffer = next.isTyped ? insert(buffer, { text: next.text, marks: [] }) : moveCursor(buffer, boundary);
            renderer.draw({ prompt: PROMPT, buffer });
          }
          await settled();
          const expected = await plainly(buffer, columns, 60);
          expect(screenOf(emulator)).toBe(expected.screen);
          expect(cursorOf(emulator)).toBe(expected.cursor);
        },
      ),
      { numRuns: cases(60) },
    );
  });

  it('leaves the whole line in the scrollback without additional breaks', async () => {
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 10, max: 30 }), async (typed, columns) => {
        const { renderer, emulator, settled } = setUp(columns, 60);
        renderer.draw({ prompt: PROMPT, buffer: bufferOf(typed) });
        renderer.commit({ prompt: PROMPT, buffer: bufferOf(typed) });
        emulator.write('answer');
        await settled();
        const plain = createEmulator(columns, 60);
        await written(plain, displayText(`${PROMPT}${typed}\nanswer`).replaceAll('\n', '\r\n'));
        expect(transcriptOf(emulator)).toBe(transcriptOf(plain));
      }),
      { numRuns: cases(60) },
    );
  });

  it('redraws the same rows after the terminal was resized', async () => {
    const { renderer, emulator, settled } = setUp(30, 12);
    const buffer = bufferOf(`${'word '.repeat(12)}end`);
    renderer.draw({ prompt: PROMPT, buffer });
    await settled();
    for (const columns of [50, 17, 24]) {
      emulator.resize(columns, 12);
      renderer.draw({ prompt: PROMPT, buffer });
      await settled();
      const expected = await plainly(buffer, columns, 12);
      expect(screenOf(emulator)).toBe(expected.screen);
      expect(cursorOf(emulator)).toBe(expected.cursor);
    }
  });

  it('shows the part around the cursor of a line that is taller than the terminal', async () => {
    const { renderer, emulator, settled } = setUp(20, 6);
    const lines = Array.from({ length: 30 }, (_, line) => `line ${line}`).join('\n');
    renderer.draw({ prompt: PROMPT, buffer: bufferOf(lines) });
    await settled();
    expect(screenOf(emulator)).toMatch(/line 29$/);
    renderer.draw({ prompt: PROMPT, buffer: moveCursor(bufferOf(lines), 0) });
    await settled();
    expect(screenOf(emulator)).toMatch(/^hi> line 0\nline 1\n/);
    renderer.commit({ prompt: PROMPT, buffer: bufferOf(lines) });
    await settled();
    expect(transcriptOf(emulator)).toBe('hi> line 0\nline 1\nline 2\nline 3\n… 26 more lines');
  });

  it('shows a hint below the line and removes it', async () => {
    const { renderer, emulator, settled } = setUp(20, 6);
    renderer.draw({ prompt: PROMPT, buffer: EMPTY_BUFFER, hint: 'a hint' });
    await settled();
    expect(screenOf(emulator)).toBe('hi> \na hint');
    expect(cursorOf(emulator)).toBe('0:4');
    renderer.draw({ prompt: PROMPT, buffer: EMPTY_BUFFER });
    await settled();
    expect(screenOf(emulator)).toBe('hi>');
  });

  it('does not erase the display from the home position, which tmux copies into its scrollback first', async () => {
    const { renderer, emulator, settled } = setUp(20, 6);
    let erased = '';
    emulator.parser.registerCsiHandler({ final: 'J' }, () => {
      erased += `${cursorOf(emulator)} `;
      return false;
    });
    renderer.draw({ prompt: PROMPT, buffer: bufferOf('one') });
    renderer.erase();
    renderer.draw({ prompt: PROMPT, buffer: bufferOf('two') });
    renderer.commit({ prompt: PROMPT, buffer: bufferOf('two') });
    await settled();
    expect(erased).toBe('0:7 0:1 0:7 0:4 ');
    expect(screenOf(emulator)).toBe('hi> two');
  });
});
