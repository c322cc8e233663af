import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../../lib/chat/json.js';
import type { ChatRequest } from '../../../../lib/chat/request.js';
import { asObjectSchema } from '../../../../lib/cli/commands/structure.js';
import { shapeRequest as anthropic } from '../../../../lib/providers/anthropic/anthropic-request.js';
import { shapeRequest as gemini } from '../../../../lib/providers/gemini/gemini-request.js';
import { shapeRequest as ollama } from '../../../../lib/providers/ollama/ollama-request.js';
import { shapeRequest as openai } from '../../../../lib/providers/openai/openai-models.js';
import { filled, SCHEMAS, unsupported } from '../../../support/answer-schemas.js';
import { chatRequest } from '../../../support/providers.js';

const TOOLS = [{ name: 'look', description: 'Look.', parameters: { type: 'object' } }];
const asking = (schema: JsonObject, more: Partial<ChatRequest> = {}): ChatRequest =>
  chatRequest({ schema: { schema: asObjectSchema(schema, false).schema, needsTools: false }, ...more });
const wordsOf = (request: ChatRequest) => JSON.stringify(request.messages.at(-1)?.content);
const IN_WORDS = 'It must fit this JSON Schema';

function fitsIn(schema: JsonValue | undefined, value: JsonValue): string {
  if (!isJsonObject(schema)) return 'no schema';
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  return ajv.validate(schema, value) ? 'fits' : ajv.errorsText();
}

const asJson = (value: unknown): JsonValue => JSON.parse(JSON.stringify(value));

/** The schemas that a vendor's structured output cannot hold. */
const INEXPRESSIBLE = {
  openai: ['a map', 'a tuple', 'an enum of objects'],
  anthropic: [
    'a schema that refers to itself',
    'a root that refers to itself',
    'a map',
    'a tuple',
    'an enum of objects',
  ],
  gemini: ['a schema that refers to itself', 'a root that refers to itself'],
};

describe.each(SCHEMAS)('$title', ({ title, schema, fits }) => {
  const { name } = asObjectSchema(schema, false);
  const value: JsonValue = name === null ? fits : { [name]: fits };
  // What conditions add, a closed object cannot have; the answer is then checked and asked for again.
  const isCondition = title === 'conditions';

  it('goes to OpenAI as documented for structured outputs, else unchanged and in words', () => {
    const { format, ...request } = openai(asking(schema), { compatible: false });
    const sent = asJson(format?.schema);
    expect(format?.strict).toBe(!INEXPRESSIBLE.openai.includes(title));
    if (format?.strict) {
      expect(unsupported('openai', sent)).toEqual([]);
      if (!isCondition) expect(fitsIn(sent, filled(value, sent))).toBe('fits');
    } else expect(wordsOf(request)).toContain(IN_WORDS);
    expect(sent).toMatchObject({ type: 'object' });
    expect(sent).not.toHaveProperty('anyOf');
  });

  it('goes to Anthropic as documented for structured outputs, else in words', () => {
    const { format, ...request } = anthropic(asking(schema), { compatible: false });
    expect(format === undefined).toBe(INEXPRESSIBLE.anthropic.includes(title));
    if (format === undefined) {
      expect(wordsOf(request)).toContain(IN_WORDS);
      return;
    }
    const sent = asJson(format.schema);
    expect(unsupported('anthropic', sent)).toEqual([]);
    if (!isCondition) expect(fitsIn(sent, value)).toBe('fits');
    expect(wordsOf(request)).not.toContain(IN_WORDS);
  });

  it('goes to Gemini as documented for responseJsonSchema, else in words', () => {
    const { format, ...request } = gemini(asking(schema, { model: 'gemini-3-pro' }));
    expect(format?.responseMimeType).toBe('application/json');
    expect(format?.responseJsonSchema === undefined).toBe(INEXPRESSIBLE.gemini.includes(title));
    if (format?.responseJsonSchema === undefined) {
      expect(wordsOf(request)).toContain(IN_WORDS);
      return;
    }
    const sent = asJson(format.responseJsonSchema);
    expect(unsupported('gemini', sent)).toEqual([]);
    if (!isCondition) expect(fitsIn(sent, value)).toBe('fits');
  });

  it('goes to Ollama unchanged, and in words', () => {
    const { format, ...request } = ollama(asking(schema));
    expect(fitsIn(asJson(format), value)).toBe('fits');
    expect(wordsOf(request)).toContain(IN_WORDS);
  });
});

describe('a vendor that supports either tools or schemas', () => {
  const schema = SCHEMAS[0]?.schema ?? {};
  const wanting = (needsTools: boolean): ChatRequest =>
    asking(schema, { tools: TOOLS, schema: { schema, needsTools } });

  it('gets the schema in words if tools were requested, and in its own field otherwise', () => {
    for (const shape of [ollama, (request: ChatRequest) => openai(request, { compatible: true })]) {
      expect(shape(wanting(true)).format).toBeUndefined();
      expect(wordsOf(shape(wanting(true)))).toContain(IN_WORDS);
      expect(shape(wanting(false)).format).toBeDefined();
    }
    expect(openai(wanting(true), { compatible: false }).format).toBeDefined();
    expect(anthropic(wanting(true), { compatible: false }).format).toBeDefined();
  });

  it('gets it in words for Gemini before its third generation', () => {
    const old = gemini({ ...wanting(false), model: 'gemini-2.5-flash' });
    expect(old.format).toBeUndefined();
    expect(wordsOf(old)).toContain(IN_WORDS);
    expect(gemini({ ...wanting(false), model: 'gemini-3-flash' }).format).toBeDefined();
  });
});

it('puts unsupported keywords into the description', () => {
  const { format } = anthropic(
    asking({ type: 'object', properties: { n: { type: 'integer', minimum: 3, description: 'How many.' } } }),
    {
      compatible: false,
    },
  );
  expect(format?.schema).toMatchObject({
    properties: { n: { type: 'integer', description: 'How many.\n\n{minimum: 3}' } },
  });
});
