import type { JSONOutputFormat } from '@anthropic-ai/sdk/resources/messages';
import type { ChatRequest } from '../../chat/request.js';
import { withSchemaInWords } from '../common/schema/in-words.js';
import type { SentRequest } from '../common/schema/sent-request.js';
import { type SchemaDialect, vendorSchema } from '../common/schema/vendor-schema.js';

/** The schemas of structured outputs, according to Anthropic's documentation: no limits on numbers or lengths, and no recursion. */
const STRUCTURED: SchemaDialect = {
  keywords: new Set(),
  formats: new Set(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']),
  literal: (value) => value === null || typeof value !== 'object',
  closed: true,
  allRequired: false,
  recursive: false,
  tuples: false,
};

/** The request with its schema as `output_config.format`, and as text if the schema cannot be expressed that way or another model may ignore it. */
export function shapeRequest(
  request: ChatRequest,
  { compatible }: { readonly compatible: boolean },
): SentRequest<JSONOutputFormat> {
  const { schema: asked, tools } = request;
  if (asked === undefined) return request;
  const inWords = withSchemaInWords(request);
  const schema = vendorSchema(asked.schema, STRUCTURED);
  if (schema === null || (compatible && asked.needsTools && tools.length > 0)) return inWords;
  return { ...(compatible ? inWords : request), format: { type: 'json_schema', schema: { ...schema } } };
}
