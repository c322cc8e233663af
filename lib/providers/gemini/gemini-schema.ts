import type { GenerateContentConfig } from '@google/genai/web';
import type { ChatRequest } from '../../chat/request.js';
import { withSchemaInWords } from '../common/schema/in-words.js';
import type { SentRequest } from '../common/schema/sent-request.js';
import { type SchemaDialect, vendorSchema } from '../common/schema/vendor-schema.js';
import { canSearch, EITHER } from './gemini-web.js';

/** The fields of the configuration that hold a schema. */
export type GeminiFormat = Pick<GenerateContentConfig, 'responseMimeType' | 'responseJsonSchema'>;

/** The dialect of `responseJsonSchema`, according to Google's documentation. Recursion works in some places only, so it is not used. */
const JSON_SCHEMA: SchemaDialect = {
  keywords: new Set(['minItems', 'maxItems', 'minimum', 'maximum']),
  formats: new Set(['date-time', 'date', 'time']),
  literal: (value) => typeof value === 'string' || typeof value === 'number',
  closed: false,
  allRequired: false,
  recursive: false,
  tuples: true,
};

/** The request with its schema as `responseJsonSchema`; as text if it cannot be expressed that way. Models before Gemini 3 answer in JSON or use tools. */
export function shapeRequest(request: ChatRequest): SentRequest<GeminiFormat> {
  const { schema: asked, tools, model } = request;
  if (asked === undefined) return request;
  const inWords = withSchemaInWords(request);
  if (EITHER.test(model) && (tools.length > 0 || canSearch(request))) return inWords;
  const schema = vendorSchema(asked.schema, JSON_SCHEMA);
  const responseMimeType = 'application/json';
  if (schema === null) return { ...inWords, format: { responseMimeType } };
  return { ...request, format: { responseMimeType, responseJsonSchema: schema } };
}
