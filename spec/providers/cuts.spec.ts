import { describe, expect, it } from '@jest/globals';
import { HiError } from '../../lib/errors.js';
import { cases } from '../support/properties.js';
import { adapter, ask, chatRequest, type Outcome } from '../support/providers.js';
import { type VendorAnswer, vendorServer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

const PIECES = ['Once upon ', 'a time 😀 ', 'there was ', 'a ', 'stream.'];
const CALLS = [
  { name: 'read_file', args: { path: 'a.txt', limit: 3 } },
  { name: 'bash', args: { command: 'echo "wörld"; ls -la' } },
];
const PLACES = cases(12);

/** Milliseconds of silence after which a stream is given up: soon only where that is what happens. */
const idleTimeout = (end: string): number => (end === 'never' ? 800 : 10_000);

/** The three ways a stream can stop in the middle. */
const ENDS = [
  ['is cut', 'cut'],
  ['ends in good order too early', 'well'],
  ['goes silent', 'never'],
] as const;

describe.each(dialects.map((dialect) => [dialect.title, dialect] as const))('%s', (_, dialect) => {
  describe.each(ENDS)('when a stream %s at any place', (_how, end) => {
    it('keeps the text that came, and says what happened', async () => {
      const whole = dialect.text(...PIECES);
      for (const { sent, got } of await atEveryPlace(dialect, whole, end)) {
        const arrived = wholeChunks(whole, sent).join('');
        const pieces = PIECES.filter((piece) => arrived.includes(JSON.stringify(piece)));
        expect(got.text.slice(0, pieces.join('').length)).toBe(pieces.join(''));
        expect(PIECES.join('').startsWith(got.text)).toBe(true);
        expectEnd(got);
      }
    });

    it('never offers an incomplete tool call', async () => {
      for (const { got } of await atEveryPlace(dialect, dialect.tools(...CALLS), end)) {
        const calls = got.parts.filter((part) => part.type === 'tool_call');
        expect(calls.filter((call) => call.invalid_args !== undefined)).toEqual([]);
        for (const [at, { name, args }] of calls.entries()) expect({ name, args }).toEqual(CALLS[at]);
        if (end === 'cut' && got.end === null) expect(calls).toEqual([]);
        expectEnd(got);
      }
    });
  });
});

/** Either the answer is complete, or a network error says that it is not. */
function expectEnd(got: Outcome): void {
  if (got.end !== null) expect(got.error).toBeNull();
  else {
    expect(got.error).toBeInstanceOf(HiError);
    expect(got.error).toMatchObject({ code: 'network' });
  }
}

async function atEveryPlace(dialect: Dialect, whole: VendorAnswer, end: 'cut' | 'well' | 'never') {
  const bytes = Buffer.concat((whole.chunks ?? []).map((chunk) => Buffer.from(chunk)));
  return Promise.all(
    Array.from({ length: PLACES }, async (_, place) => {
      const sent = Math.floor((bytes.length * (place + 0.5)) / PLACES);
      const chunks = [bytes.subarray(0, sent)];
      await using server = await vendorServer({ ...whole, chunks, end });
      const provider = await adapter(dialect.provider, server.url + dialect.path, {
        ...dialect.settings,
        idleTimeout: idleTimeout(end),
      });
      return { sent, got: await ask(provider, chatRequest()) };
    }),
  );
}

/** The chunks that are wholly among the first bytes. */
function wholeChunks({ chunks = [] }: VendorAnswer, bytes: number): string[] {
  let end = 0;
  return chunks.map(String).filter((chunk) => {
    end += Buffer.byteLength(chunk);
    return end <= bytes;
  });
}
