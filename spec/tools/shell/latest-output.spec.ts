import { describe, expect, it } from '@jest/globals';
import { MASK, ownSecretMask, SecretStream, secretMask } from '../../../lib/permission/secrets.js';
import { countBytes, LatestOutput, OutputKeeper } from '../../../lib/tools/shell/limit-output.js';
import { OutputQueue } from '../../../lib/tools/shell/run-shell.js';
import fc, { cases } from '../../support/properties.js';

const KEY = 'sk-CANARYkey1234567890bcdefghijk';
const ENCODED = Buffer.from(KEY).toString('base64').replace(/.{20}/g, '$&\n');
const HEX = Buffer.from(KEY).toString('hex');

const stream = () => new SecretStream(ownSecretMask([KEY]), [KEY], false);

/** A long output with secrets in it. Its first part holds none, so that what is left out can be counted. */
const outputs = fc
  .tuple(
    fc.integer({ min: 0, max: 9000 }),
    fc.array(fc.oneof(fc.constantFrom(KEY, ENCODED, HEX, '🙂', 'größe '), fc.lorem({ maxCount: 8 })), {
      maxLength: 60,
    }),
  )
  .map(([length, parts]) => `${'word\n'.repeat(length / 5)}${parts.map((part) => `${part}\n`).join('')}`);
const sizes = fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1, maxLength: 5 });

function* cut(all: string, lengths: readonly number[]): Generator<Buffer> {
  const bytes = Buffer.from(all);
  for (let from = 0, piece = 0; from < bytes.length; piece += 1) {
    const size = lengths[piece % lengths.length] ?? bytes.length;
    yield bytes.subarray(from, from + size);
    from += size;
  }
}

/** Eight characters of the key, which no other part of the outputs has. */
function hasPart(text: string): boolean {
  const plain = text.replace(/[\r\n]/g, '');
  return [KEY, ENCODED.replace(/\n/g, ''), HEX].some((form) =>
    Array.from({ length: form.length - 7 }, (_, at) => form.slice(at, at + 8)).some((part) => plain.includes(part)),
  );
}

describe('a long output', () => {
  it('ends for the model as if all of it had been masked, and says how much is left out', () => {
    fc.assert(
      fc.property(outputs, sizes, fc.integer({ min: 100, max: 400 }), (all, lengths, limit) => {
        const keeper = new OutputKeeper(limit, null, 'none', stream());
        for (const piece of cut(all, lengths)) keeper.take(piece);
        const { text, truncated } = keeper.finish(limit);
        const masked = ownSecretMask([KEY])(all);
        expect(hasPart(text)).toBe(false);
        expect([truncated, keeper.characters > limit]).toEqual([masked.length > limit, masked.length > limit]);
        if (!truncated) return expect(text).toBe(masked);
        const [line = '', missing, count] = /\n\[… (\d+) of (\d+) characters left out.*…\]\n/.exec(text) ?? [];
        const [head = '', tail = ''] = text.split(line);
        expect([masked.startsWith(head), masked.endsWith(tail)]).toEqual([true, true]);
        expect(head.length + Number(missing) + tail.length).toBe(Number(count));
        // What is left out is not masked, and counts with its secrets.
        expect(Number(count)).toBeGreaterThanOrEqual(masked.length);
        expect(Number(count)).toBeLessThanOrEqual(all.length);
        expect(tail.length).toBeGreaterThan(limit / 2 - 3);
      }),
      { numRuns: cases(60) },
    );
  });

  it('shows no part of a secret on the screen, whenever it is read', () => {
    fc.assert(
      fc.property(outputs, sizes, fc.array(fc.nat(40), { minLength: 1 }), (all, lengths, pauses) => {
        const output = new LatestOutput(300, stream());
        let [shown, leftOut, leftOutLines, pieces, reads] = ['', 0, 0, 0, 0];
        const read = () => {
          const part = output.read();
          expect(part.leftOut > 0 || part.leftOutLines === 0).toBe(true);
          shown += part.leftOut > 0 ? `|${part.text}` : part.text;
          leftOut += part.leftOut;
          leftOutLines += part.leftOutLines;
        };
        for (const piece of cut(all, lengths)) {
          output.add(countBytes(piece));
          pieces += 1;
          if (pieces <= (pauses[reads % pauses.length] ?? 0)) continue;
          read();
          reads += 1;
          pieces = 0;
        }
        output.end();
        read();
        expect(hasPart(shown)).toBe(false);
        const masked = ownSecretMask([KEY])(all);
        if (leftOut === 0) return expect(shown).toBe(masked);
        expect(masked.endsWith(shown.split('|').at(-1) ?? '')).toBe(true);
        if (!masked.includes(MASK)) {
          expect(shown.replaceAll('|', '').length + leftOut).toBe(all.length);
          expect(shown.split('\n').length + leftOutLines).toBe(all.split('\n').length);
        }
      }),
      { numRuns: cases(60) },
    );
  });

  it('hides a private key and a login whose beginnings are left out', () => {
    const pem = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADAN\n'.repeat(300)}-----END PRIVATE KEY-----`;
    for (const secret of [pem, `https://me:${'hunter2-'.repeat(30)}@host/`, `ghp_${'a1B2'.repeat(9)}`])
      for (let after = 0; after < 400; after += 7) {
        const output = new LatestOutput(200, new SecretStream(secretMask([]), [], true));
        for (const piece of cut(`${'x '.repeat(200_000)}${secret}${' y'.repeat(after)}`, [97]))
          output.add(countBytes(piece));
        output.end();
        const { text, leftOut } = output.read();
        expect(leftOut).toBeGreaterThan(1000);
        expect(text).not.toMatch(/MIIE|hunter|a1B2/);
        if (after < 90) expect(text).toContain(MASK);
      }
  });
});

describe('the queue of the screen', () => {
  it('reads deferred output only when it is requested, and says what is left out of it', () => {
    const queue = new OutputQueue();
    const output = new LatestOutput(20, null);
    queue.add('first\n');
    for (let line = 0; line < 1000; line += 1) {
      output.add(countBytes(Buffer.from(`line ${String(line).padStart(4, '0')}\n`)));
      queue.add(output);
    }
    expect(queue.take()).toEqual({
      text: 'first\n\n[… 9980 characters not shown …]\nline 0998\nline 0999\n',
      lines: 1001,
    });
    expect(queue.take()).toBeNull();
  });

  it('waits while a deferred output holds everything back', async () => {
    const queue = new OutputQueue();
    const output = new LatestOutput(100, stream());
    output.add(countBytes(Buffer.from(KEY.slice(0, 9))));
    queue.add(output);
    await queue.next(new Promise(() => {}));
    expect(queue.take()).toBeNull();
    output.add(countBytes(Buffer.from(`${KEY.slice(9)} end`)));
    queue.add(output);
    expect(queue.take()).toEqual({ text: `${MASK} end`, lines: 0 });
  });
});
