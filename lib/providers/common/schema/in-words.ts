import type { ChatRequest } from '../../../chat/request.js';

/** The request with its schema as text after the user's newest message, so that the cached prefix does not change. */
export function withSchemaInWords(request: ChatRequest): ChatRequest {
  const { schema, messages } = request;
  if (schema === undefined) return request;
  const text = `Answer with one JSON object and nothing else: no words around it, no code fence. It must fit this JSON Schema:\n${JSON.stringify(schema.schema)}`;
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const extended = messages.map((message, at) =>
    at === asked ? { ...message, content: [...message.content, { type: 'text' as const, text }] } : message,
  );
  return { ...request, messages: extended };
}

/** The same for a server without structured output. */
export function withSchemaInWordsOnly(request: ChatRequest): ChatRequest {
  const { schema: _, ...rest } = withSchemaInWords(request);
  return rest;
}
