import { describe, expect, it } from '@jest/globals';
import { PlainHeaders } from '../../lib/http/web-standard.js';
import fc from '../support/properties.js';

const name = fc.constantFrom('Accept', 'accept', 'X-One', 'x-one', 'Content-Type', 'Authorization');
const value = fc.stringMatching(/^[a-z0-9]{1,8}$/);
const step = fc.oneof(
  fc.record({ kind: fc.constantFrom('append' as const, 'set' as const), name, value }),
  fc.record({ kind: fc.constant('delete' as const), name, value: fc.constant('') }),
);

const sorted = (entries: Iterable<readonly [string, string]>) =>
  [...entries].sort(([one], [other]) => (one < other ? -1 : 1));

describe('plain headers', () => {
  it('behave like Node’s own, except for their order', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), fc.array(step), (init, steps) => {
        const [plain, own] = [new PlainHeaders(init), new Headers(init)];
        for (const { kind, name, value } of steps) {
          if (kind === 'delete') for (const headers of [plain, own]) headers.delete(name);
          else for (const headers of [plain, own]) headers[kind](name, value);
        }
        expect(sorted(plain)).toEqual(sorted(own));
        expect(plain.get('ACCEPT')).toBe(own.get('ACCEPT'));
        expect(plain.has('x-One')).toBe(own.has('x-One'));
      }),
    );
  });

  it('accept a record, pairs, other headers, and nothing', () => {
    const record = new PlainHeaders({ 'X-A': '1' });
    for (const headers of [record, new PlainHeaders(record), new PlainHeaders([['x-a', '1']])]) {
      expect([...headers]).toEqual([['x-a', '1']]);
    }
    expect([...new PlainHeaders()]).toEqual([]);
    expect([...new PlainHeaders(null).keys()]).toEqual([]);
  });
});
