import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { mergeFacts, refusedNow } from '../../../../lib/chat/model.js';
import { KnownModels } from '../../../../lib/providers/common/known-models.js';

const PLACE = { provider: 'openai', api_base: 'http://127.0.0.1:8000/v1', model: 'qwen3' };

describe('KnownModels', () => {
  let folder: string;
  let path: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'hi-models-'));
    path = join(folder, 'cache', 'models.json');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('stores what was learnt for the next process', () => {
    new KnownModels(path).of(PLACE).learn({ context_window: 8192, takes: { tools: false } });
    new KnownModels(path).of(PLACE).learn({ takes: { images: true }, server: { loaded_window: 9 } });
    expect(new KnownModels(path).of(PLACE).facts).toEqual({
      context_window: 8192,
      takes: { tools: false, images: true },
      server: { loaded_window: 9 },
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('keeps servers and models apart', () => {
    const known = new KnownModels(path);
    known.of(PLACE).learn({ context_window: 8192 });
    expect(known.of({ ...PLACE, api_base: null }).facts).toEqual({});
    expect(known.of({ ...PLACE, model: 'other' }).facts).toEqual({});
    expect(known.of({ ...PLACE, provider: 'ollama' }).facts).toEqual({});
  });

  it('keeps what another process has learnt meanwhile', () => {
    const [one, other] = [new KnownModels(path), new KnownModels(path)];
    expect(one.of(PLACE).facts).toEqual({});
    other.of({ ...PLACE, model: 'second' }).learn({ context_window: 4096 });
    one.of(PLACE).learn({ context_window: 8192 });
    const known = new KnownModels(path);
    expect(known.of({ ...PLACE, model: 'second' }).facts).toEqual({ context_window: 4096 });
    expect(known.of(PLACE).facts).toEqual({ context_window: 8192 });
  });

  it.each(['', '{', '[]', '{"models":[]}', '{"models":{"x":3}}'])(
    'takes a damaged file (%j) for an empty one',
    (text) => {
      mkdirSync(join(folder, 'cache'));
      writeFileSync(path, text);
      const known = new KnownModels(path);
      expect(known.of(PLACE).facts).toEqual({});
      known.of(PLACE).learn({ context_window: 8192 });
      expect(new KnownModels(path).of(PLACE).facts).toEqual({ context_window: 8192 });
    },
  );

  it('leaves out values of the wrong type', () => {
    new KnownModels(path).of(PLACE).learn({ context_window: 1 });
    const text = readFileSync(path, 'utf8');
    const facts = {
      context_window: 'large',
      asked_at: -1,
      takes: { tools: 1, images: false },
      server: { fixed_window: 'x', loaded_window: 4096 },
      refused_at: { tools: 'now' },
    };
    const [name = ''] = Object.keys(JSON.parse(text).models);
    writeFileSync(path, JSON.stringify({ models: { [name]: facts } }));
    expect(new KnownModels(path).of(PLACE).facts).toEqual({
      ...{ takes: { images: false }, server: { loaded_window: 4096 }, refused_at: {} },
    });
  });

  it('keeps in memory what cannot be written', () => {
    writeFileSync(join(folder, 'cache'), 'a file where the folder should be');
    const known = new KnownModels(path);
    known.of(PLACE).learn({ context_window: 8192 });
    expect(known.of(PLACE).facts).toEqual({ context_window: 8192 });
  });

  it('forgets a refusal after an hour, or at once if the feature works again', () => {
    let now = Date.parse('2026-11-22');
    const known = () => new KnownModels(path, () => now).of(PLACE);
    const learnt = refusedNow(['tools', 'images', 'thinking off', 'file aa'], now);
    known().learn({ ...learnt, takes: { ...learnt.takes, web: false } });
    known().learn({ takes: { images: true }, context_window: 4096 });
    expect(known().facts).toMatchObject({
      takes: { tools: false, images: true, web: false, 'thinking off': false, 'file aa': false },
    });
    now += 61 * 60 * 1000;
    expect(known().facts).toEqual({ takes: { images: true, web: false }, refused_at: {}, context_window: 4096 });
  });

  it('forgets the models that were updated longest ago', () => {
    const known = new KnownModels(path);
    for (let index = 0; index < 501; index += 1)
      known.of({ ...PLACE, model: `m${index}` }).learn({ context_window: 9 });
    expect(known.of({ ...PLACE, model: 'm0' }).facts).toEqual({});
    expect(known.of({ ...PLACE, model: 'm1' }).facts).toEqual({ context_window: 9 });
  });
});

describe('mergeFacts', () => {
  const facts = fc.record(
    {
      context_window: fc.integer({ min: 1 }),
      takes: fc.dictionary(fc.constantFrom('tools', 'images', 'opaque'), fc.boolean()),
    },
    { requiredKeys: [] },
  );

  it('is unchanged if the same is learnt again', () => {
    fc.assert(
      fc.property(facts, facts, (earlier, more) => {
        const once = mergeFacts(earlier, more);
        expect(mergeFacts(once, more)).toEqual(once);
        expect(once.takes ?? {}).toMatchObject(more.takes ?? {});
      }),
    );
  });
});
