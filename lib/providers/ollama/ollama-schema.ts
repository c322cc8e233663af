import type { ChatRequest } from '../../chat/request.js';
import { withSchemaInWords } from '../common/schema/in-words.js';
import type { SentRequest } from '../common/schema/sent-request.js';

/** The request with its schema as `format`, and as text: the server enforces the format, but the model does not see it. With a format it cannot call tools. */
export function shapeRequest(request: ChatRequest): SentRequest<object> {
  const { schema: asked, tools } = request;
  if (asked === undefined) return request;
  const inWords = withSchemaInWords(request);
  return asked.needsTools && tools.length > 0 ? inWords : { ...inWords, format: asked.schema };
}
