import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { bash } from '../../../lib/tools/bash.js';
import { OutputKeeper } from '../../../lib/tools/shell/limit-output.js';
import fc from '../../support/properties.js';
import { bench } from '../../support/tool-runner.js';

const folder = mkdtempSync(join(tmpdir(), 'hi-output-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;

/** What an output that comes in pieces of these sizes leaves, in `room` of `limit` characters. */
function limited(all: string, sizes: readonly number[], limit: number, room = limit) {
  const keeper = new OutputKeeper(limit, folder, `${files++}.stdout`);
  const bytes = Buffer.from(all);
  for (let from = 0, piece = 0; from < bytes.length; piece += 1) {
    const size = sizes[piece % sizes.length] ?? bytes.length;
    keeper.take(bytes.subarray(from, from + size));
    from += size;
  }
  keeper.rest();
  return { length: keeper.characters, ...keeper.finish(room) };
}

/** Head and tail, and how many characters are said to be missing between them, of how many. */
function parts(text: string) {
  const found = /\n\[… (\d+) of (\d+) characters left out\. .* …\]\n/.exec(text);
  if (found === null) return null;
  const [line, missing, all] = found;
  const [head = '', tail = ''] = text.split(line);
  return { head, tail, missing: Number(missing), all: Number(all) };
}

describe('an output above its limit', () => {
  it.each([999, 1000, 1001, 1002, 1010, 1200, 1490, 1499, 1500, 1501, 1600, 1999, 2000, 2001, 5000, 100_000])(
    'of 1000 lose nothing unsaid where %i characters come',
    (length) => {
      const all = Array.from({ length }, (_, index) => String.fromCharCode(97 + (index % 26))).join('');
      const { text, truncated } = limited(all, [length], 1000);
      expect(truncated).toBe(length > 1000);
      if (!truncated) return expect(text).toBe(all);
      expect(parts(text)).toEqual({
        head: all.slice(0, 500),
        tail: all.slice(-500),
        missing: length - 1000,
        all: length,
      });
    },
  );

  it('becomes a head, a count and a tail that add up to all of it, whatever its length and chunks', () => {
    const character = fc.constantFrom('a', 'b', 'é', '天', '🙂', '🇫', '\n', 'z');
    const output = fc
      .tuple(fc.array(character, { minLength: 1, maxLength: 60 }), fc.integer({ min: 1, max: 12 }))
      .map(([some, times]) => some.join('').repeat(times));
    const sizes = fc.array(fc.integer({ min: 1, max: 97 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(
        output,
        sizes,
        fc.integer({ min: 0, max: 300 }),
        fc.integer({ min: 0, max: 300 }),
        (all, pieces, room, more) => {
          const { text, truncated, file, length } = limited(all, pieces, room + more, room);
          expect([length, truncated]).toEqual([all.length, all.length > room]);
          if (!truncated) return expect([text, file]).toEqual([all, null]);
          const found = parts(text);
          const { head, tail, missing } = found ?? { head: '', tail: '', missing: -1 };
          expect(head + all.slice(head.length, head.length + missing) + tail).toBe(all);
          expect(found?.all).toBe(all.length);
          expect(head.length + tail.length).toBeGreaterThanOrEqual(room - 2);
          expect(head.length + tail.length).toBeLessThanOrEqual(room);
          expect(Buffer.from(text).toString()).toBe(text);
          expect(readFileSync(file ?? '', 'utf8')).toBe(all);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('keeps the line that says what is missing even if an escape sequence is cut', () => {
    const all = `${'a'.repeat(40)}\u001b]8;;http://localhost/${'b'.repeat(80)}\u0007${'c'.repeat(40)}`;
    expect(parts(limited(all, [7], 100).text)).not.toBeNull();
  });

  it('counts an incomplete character at its end', () => {
    const keeper = new OutputKeeper(200, folder, `${files++}.stdout`);
    keeper.take(Buffer.from('a'.repeat(199)));
    keeper.take(Buffer.from('🙂').subarray(0, 2));
    expect(keeper.rest()).toBe('\ufffd');
    expect(keeper.characters).toBe(200);
    expect(keeper.finish(200)).toMatchObject({ text: `${'a'.repeat(199)}\ufffd`, truncated: false });
  });

  it.each([200, 290, 340, 500])(
    'hold for both streams of a command that prints %i characters on each',
    async (count) => {
      const place = bench();
      const context = { ...place.context, outputLimit: 300 };
      const command = `head -c ${count} /dev/zero | tr '\\0' o; head -c ${count} /dev/zero | tr '\\0' e >&2`;
      const { stdout, stderr } = await bash.run({ command }, context, () => {}, new AbortController().signal, {
        ...{ file: null, confined: null },
      });
      let shown = 0;
      for (const text of [stdout, stderr]) {
        const found = parts(String(text)) ?? { head: String(text), tail: '', missing: 0 };
        expect(found.head.length + found.missing + found.tail.length).toBe(count);
        shown += found.head.length + found.tail.length;
      }
      expect(shown).toBe(300);
      place.remove();
    },
  );
});
