import { describe, expect, it } from '@jest/globals';
import type { StreamEvent } from '../../lib/chat/event.js';
import { isJsonObject, type JsonValue } from '../../lib/chat/json.js';
import { HiError } from '../../lib/errors.js';
import fc, { cases } from '../support/properties.js';
import { adapter, ask, chatRequest } from '../support/providers.js';
import { type VendorAnswer, vendorServer } from '../support/vendor-server.js';
import { dialects } from '../support/vendors.js';

const WRONG: readonly JsonValue[] = [null, 5, -1, true, '', 'x', [], {}, [null], [5], [[]], { a: 1 }];

/** What stands at one place of an answer: in which of its pieces, behind which keys, and what is put there. */
interface Wrong {
  readonly piece: number;
  readonly place: number;
  readonly value: JsonValue;
}

const wrong: fc.Arbitrary<Wrong> = fc.record({
  piece: fc.nat(20),
  place: fc.nat(60),
  value: fc.constantFrom(...WRONG),
});

describe.each(dialects.map((dialect) => [dialect.title, dialect] as const))('%s', (_, dialect) => {
  it("may send any value anywhere: it is read as far as possible, or reported as the server's fault", async () => {
    const answers = [dialect.text('Hel', 'lo'), dialect.tools({ name: 'list_files', args: { path: '.' } })];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...answers), wrong, async (answer, at) => {
        await using server = await vendorServer(spoilt(answer, at));
        const provider = await adapter(dialect.provider, server.url + dialect.path, dialect.settings);
        const { events, error } = await ask(provider, chatRequest());
        for (const event of events) expectSound(event);
        if (error !== null) expect(error).toBeInstanceOf(HiError);
        if (error instanceof HiError) expect(error.code).not.toBe('bug');
      }),
      { numRuns: cases(15) },
    );
  });

  it("may nest any value too deeply anywhere: it is read as far as possible, or reported as the server's fault", async () => {
    const answers = [dialect.text('Hel', 'lo'), dialect.tools({ name: 'list_files', args: { path: '.' } })];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...answers), wrong, async (answer, at) => {
        await using server = await vendorServer(nested(spoilt(answer, { ...at, value: MARK }), 20_000));
        const provider = await adapter(dialect.provider, server.url + dialect.path, dialect.settings);
        const { events, error } = await ask(provider, chatRequest());
        // What is stored is written as JSON, which a value nested so deeply cannot be.
        expect(() => JSON.stringify(events)).not.toThrow();
        if (error !== null) expect(error).toBeInstanceOf(HiError);
        if (error instanceof HiError) expect(error.code).not.toBe('bug');
      }),
      { numRuns: cases(6) },
    );
  });

  it.each([101, 3_000, 1_000_000])('refuses a tool call with arguments nested %d levels deep', async (levels) => {
    const answer = dialect.tools({ name: 'list_files', args: { path: MARK } });
    await using server = await vendorServer(nested(answer, levels - 1));
    const provider = await adapter(dialect.provider, server.url + dialect.path, dialect.settings);
    const { events, error } = await ask(provider, chatRequest());
    expect(error).toBeNull();
    const parts = events.flatMap((event) =>
      event.type === 'part' && event.part.type === 'tool_call' ? event.part : [],
    );
    expect(parts).toMatchObject([{ name: 'list_files', args: {}, invalid_args: '(nested deeper than 100 levels)' }]);
  });
});

/** Stands in an answer where a value nested so many levels is to be. */
const MARK = 76543;

function nested(answer: VendorAnswer, levels: number): VendorAnswer {
  const value = '['.repeat(levels) + ']'.repeat(levels);
  return { ...answer, chunks: (answer.chunks ?? []).map((chunk) => String(chunk).replaceAll(String(MARK), value)) };
}

/** As the contract has it, for what is in it is stored. */
function expectSound(event: StreamEvent): void {
  if (event.type === 'text' || event.type === 'thinking') expect(typeof event.text).toBe('string');
  if (event.type === 'part' && event.part.type === 'tool_call') {
    const { call_id, name, args } = event.part;
    expect([typeof call_id, typeof name, isJsonObject(args)]).toEqual(['string', 'string', true]);
  }
  if (event.type === 'end') {
    expect(['string', 'undefined']).toContain(typeof event.model);
    expect(['string', 'undefined']).toContain(typeof event.detail);
    const { billing: { model: _, ...billing } = {}, ...counts } = event.usage ?? {};
    for (const count of Object.values({ ...billing, ...counts })) expect(count).toBeGreaterThanOrEqual(0);
  }
}

function spoilt(answer: VendorAnswer, { piece, place, value }: Wrong): VendorAnswer {
  const chunks = (answer.chunks ?? []).map(String);
  const at = piece % chunks.length;
  const [, before = '', json = '{}', after = ''] = /^(.*?)(\{.*\})(\s*)$/s.exec(chunks[at] ?? '') ?? [];
  const event: JsonValue = JSON.parse(json);
  const places = placesOf(event);
  const changed = put(event, places[place % places.length] ?? [], value);
  return { ...answer, chunks: chunks.with(at, `${before}${JSON.stringify(changed)}${after}`) };
}

type Place = readonly (string | number)[];

function placesOf(value: JsonValue, at: Place = []): readonly Place[] {
  if (typeof value !== 'object' || value === null) return [at];
  const inside = Object.entries(value).flatMap(([key, one]) => placesOf(one ?? null, [...at, key]));
  return [at, ...inside];
}

function put(into: JsonValue, [key, ...rest]: Place, value: JsonValue): JsonValue {
  if (key === undefined) return value;
  if (Array.isArray(into)) return into.with(Number(key), put(into[Number(key)], rest, value));
  return isJsonObject(into) ? { ...into, [key]: put(into[key] ?? null, rest, value) } : into;
}
