import type { ChatRequest } from '../../../chat/request.js';

/** The request with its schema told in words after the newest message of the user, so that what was sent before stays as it was. */
export function withSchemaInWords(request: ChatRequest): ChatRequest {
  const { schema, messages } = request;
  if (schema === undefined) return request;
  const text = `Answer with one JSON object and nothing else: no words around it, no code fence. It must fit this JSON Schema:\n${JSON.stringify(schema.schema)}`;
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const told = messages.map((message, at) =>
    at === asked ? { ...message, content: [...message.content, { type: 'text' as const, text }] } : message,
  );
  return { ...request, messages: told };
}

/** The same for a server that holds no answer to a schema. */
export function withSchemaInWordsOnly(request: ChatRequest): ChatRequest {
  const { schema: _, ...told } = withSchemaInWords(request);
  return told;
}
