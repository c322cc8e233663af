import type { JsonObject } from '../../chat/json.js';
import type { ChatRequest } from '../../chat/request.js';
import { withSchemaInWords } from '../common/schema/in-words.js';
import type { SentRequest } from '../common/schema/sent-request.js';
import { type SchemaDialect, vendorSchema } from '../common/schema/vendor-schema.js';

/** A schema as both of OpenAI's APIs take it, each in its own place. */
export interface OpenAIFormat {
  readonly name: string;
  readonly schema: { [name: string]: unknown };
  readonly strict: boolean;
}

/** What strict structured outputs take, by OpenAI's documentation. */
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
 * The request with its schema as `response_format` and `text.format` hold it: strict where the schema can be said that way, else as it is and in words too.
 * A `compatible` server may ignore the field or have no tools beside it, so it reads the words in any case.
 */
export function shapeRequest(
  request: ChatRequest,
  { compatible }: { readonly compatible: boolean },
): SentRequest<OpenAIFormat> {
  const { schema: asked, tools } = request;
  if (asked === undefined) return request;
  const told = withSchemaInWords(request);
  if (compatible && asked.needsTools && tools.length > 0) return told;
  const strict = vendorSchema(asked.schema, STRICT);
  const format = { name: 'answer', schema: mutable(strict ?? asked.schema), strict: strict !== null };
  return { ...(compatible || strict === null ? told : request), format };
}

const mutable = (schema: JsonObject): OpenAIFormat['schema'] => ({ ...schema });
