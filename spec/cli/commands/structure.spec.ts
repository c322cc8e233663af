import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { JsonValue } from '../../../lib/chat/json.js';
import { asObjectSchema, openStructure, type Structure } from '../../../lib/cli/commands/structure.js';
import { SCHEMAS } from '../../support/answer-schemas.js';

const folder = mkdtempSync(join(tmpdir(), 'hi-structure-'));
writeFileSync(join(folder, 'notes.txt'), 'just words');
afterAll(() => rmSync(folder, { recursive: true }));

const open = async (text: string, isList = false): Promise<Structure> =>
  await openStructure({ text, isList, needsTools: false }, folder, new AbortController().signal);

describe('one of thirty schemas', () => {
  it.each(SCHEMAS)(
    'is in a form that every vendor takes, and tells what fits: $title',
    async ({ schema, fits, wrong }) => {
      const { asked, read } = await open(JSON.stringify(schema));
      expect(asked.schema).toMatchObject({ type: 'object' });
      const { name } = asObjectSchema(schema, false);
      const wrapped = (value: JsonValue) => JSON.stringify(name === null ? value : { [name]: value });
      expect(read(wrapped(fits))).toMatchObject({ data: fits });
      expect(read(wrapped(wrong))).toEqual({ wrong: expect.any(String) });
    },
  );
});

describe('an answer', () => {
  it.each([
    ['in a code fence', '```json\n{"n": 1}\n```'],
    ['among words', 'Here it is:\n\n```\n{"n": 1}\n```\nAnything else?'],
    ['after a sentence', 'Sure! {"n": 1} Bye.'],
    ['with a null for what may be absent', '{"n": 1, "m": null}'],
  ])('%s is taken out of it', async (_title, text) => {
    const { read } = await open(
      '{"type":"object","properties":{"n":{"type":"integer"},"m":{"type":"string"}},"required":["n"]}',
    );
    expect(read(text)).toMatchObject({ data: { n: 1 } });
  });

  it('keeps the digits of the model', async () => {
    const text = '{"n": 12345678901234567890.10}';
    expect((await open('n float')).read(text)).toMatchObject({ json: text });
  });
});

describe('what is given as a schema', () => {
  it.each([
    ['an unknown type', 'age itn', "Unknown type 'itn' of the field 'age'"],
    ['a field that is there twice', 'a, a int', "the field 'a' twice"],
    ['a file that is not there', 'no/such.json', "There is no file 'no/such.json'"],
    ['a file that is no JSON', 'notes.txt', "'notes.txt' is not JSON"],
    ['JSON that is cut off', '{"type":', 'The schema is not JSON'],
    ['a list', '[1]', 'not a JSON Schema: it is a list'],
    ['an unknown type in JSON', '{"type":"objekt"}', 'not a valid JSON Schema: at /type'],
    ['a broken pattern', '{"type":"string","pattern":"("}', 'Invalid regular expression'],
    ['a reference to nothing', '{"$ref":"#/$defs/x"}', "can't resolve reference #/$defs/x"],
    ['a reference to elsewhere', '{"$ref":"https://example.org/x.json"}', "can't resolve reference"],
    ['an old draft', '{"$schema":"http://json-schema.org/draft-04/schema#"}', 'is not known'],
    ['nothing', ' ', 'The schema is empty'],
    ['deep nesting', `${'{"items":'.repeat(200)}{}${'}'.repeat(200)}`, 'nested deeper than'],
    ['a reference to itself', '{"$ref":"#"}', "refers to itself without end: '#'"],
    ['one by a longer way', '{"anyOf":[{"not":{"allOf":[{"$ref":"#"}]}}]}', 'without end'],
    ['false', 'false', 'it is false, which nothing fits'],
    ['null', ' null', 'it is not an object'],
    ['a name that is there twice', '{"type":"object","type":"string"}', "has 'type' twice in one object"],
  ])('is refused if it is %s', async (_title, text, message) => {
    await expect(open(text)).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining(message) });
  });

  it('is refused for the items of a list by its own places', async () => {
    const schema = '{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}';
    await expect(open(schema, true)).rejects.toMatchObject({ message: expect.stringContaining('without end') });
  });
});
