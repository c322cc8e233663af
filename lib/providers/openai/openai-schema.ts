import type { JsonObject } from '../../chat/json.js';
import type { ChatRequest } from '../../chat/request.js';
import { withSchemaInWords } from '../common/schema/in-words.js';
import type { SentRequest } from '../common/schema/sent-request.js';
import { type SchemaDialect, vendorSchema } from '../common/schema/vendor-schema.js';

/** A schema for both of OpenAI's APIs, each of which has its own field for it. */
export interface OpenAIFormat {
  readonly name: string;
  readonly schema: { [name: string]: unknown };
  readonly strict: boolean;
}

/** The dialect of strict structured outputs, according to OpenAI's documentation. */
const STRICT: SchemaDialect = {
  keywords: new Set([
    'pattern',
    'multipleOf',
    'maximum',
    'exclusiveMaximum',
    'minimum',
    'exclusiveMinimum',
    'minItems',
    'maxItems',
  ]),
  formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']),
  literal: (value) => value === null || typeof value !== 'object',
  closed: true,
  allRequired: true,
  recursive: true,
  tuples: false,
};

/**
 * The request with its schema for `response_format` and `text.format`: strict if the schema can be expressed that way, else unchanged and as text too.
 * A `compatible` server may ignore the field or not support tools with it, so it always gets the text.
 */
export function shapeRequest(
  request: ChatRequest,
  { compatible }: { readonly compatible: boolean },
): SentRequest<OpenAIFormat> {
  const { schema: asked, tools } = request;
  if (asked === undefined) return request;
  const inWords = withSchemaInWords(request);
  if (compatible && asked.needsTools && tools.length > 0) return inWords;
  const strict = vendorSchema(asked.schema, STRICT);
  const format = { name: 'answer', schema: mutable(strict ?? asked.schema), strict: strict !== null };
  return { ...(compatible || strict === null ? inWords : request), format };
}

const mutable = (schema: JsonObject): OpenAIFormat['schema'] => ({ ...schema });
