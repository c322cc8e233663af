import { isJsonObject } from '../../chat/json.js';
import type { Part, ToolResultPart } from '../../chat/message.js';
import type { ChatRequest } from '../../chat/request.js';
import type { Provider } from '../../providers/common/provider.js';

/**
 * The provider without passages of imported books that its server may not have: they were recalled while the
 * conversation was at another one. `may` is asked only where a request has some.
 */
export function withAllowedBooks(provider: Provider, may: (book: string) => boolean): Provider {
  return {
    name: provider.name,
    get origin() {
      return provider.origin;
    },
    stream: (request, signal) => provider.stream(withoutOthers(request, may), signal),
  };
}

function withoutOthers(request: ChatRequest, may: (book: string) => boolean): ChatRequest {
  let isSame = true;
  const messages = request.messages.map((message) => {
    const content = message.content.flatMap((part): readonly Part[] => {
      if (part.type === 'text') return part.book === undefined || may(part.book) ? [part] : [];
      return part.type === 'tool_result' ? [allowedResult(part, may)] : [part];
    });
    if (content.length === message.content.length && content.every((part, at) => part === message.content[at]))
      return message;
    isSame = false;
    return { ...message, content };
  });
  return isSame ? request : { ...request, messages };
}

/** The result of a search of all that was said has the passages of each book under its name. */
function allowedResult(part: ToolResultPart, may: (book: string) => boolean): ToolResultPart {
  const { result } = part;
  if (!isJsonObject(result) || typeof result.recalled !== 'string' || !isJsonObject(result.books)) return part;
  const books = Object.fromEntries(Object.entries(result.books).filter(([book]) => may(book)));
  if (Object.keys(books).length === Object.keys(result.books).length) return part;
  const { call_id, name } = part;
  return { type: 'tool_result', call_id, name, result: { ...result, books } };
}
