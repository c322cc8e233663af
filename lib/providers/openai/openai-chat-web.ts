import type { StreamEvent } from '../../chat/event.js';
import type { ChatRequest } from '../../chat/request.js';
import { noSearch, offersWeb, type WebNotice } from '../common/request/web-search.js';

/** The server of a request. */
export interface ChatServer {
  readonly title: string;
  /** The host of its address. */
  readonly host: string;
}

const isAt = (host: string, name: string): boolean => host === name || host.endsWith(`.${name}`);

/** Models that always search: Perplexity's, and those of OpenAI and OpenRouter with such a name. */
const searchesItself = ({ model }: ChatRequest, { host }: ChatServer): boolean =>
  isAt(host, 'perplexity.ai') || /:online$|-search(?:-|$)|(?:^|\/)sonar/.test(model);

/**
 * The search fields of a Chat Completions request. OpenRouter's plugin searches, and costs money, with every request, so it is used only
 * if the user asked for a search explicitly.
 */
export function toVendorSearch(request: ChatRequest, server: ChatServer): { plugins?: { id: 'web' }[] } {
  const isAsked = request.web === 'on' && offersWeb(request) && !searchesItself(request, server);
  return isAsked && isAt(server.host, 'openrouter.ai') ? { plugins: [{ id: 'web' }] } : {};
}

/** Reports that the server has no search. */
export function* sayNoSearch(request: ChatRequest, server: ChatServer, notice: WebNotice): Generator<StreamEvent> {
  if (searchesItself(request, server) || 'plugins' in toVendorSearch(request, server)) return;
  yield* notice.say(request, noSearch(server.title));
}
