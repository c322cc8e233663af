import type { StreamEvent } from '../../chat/event.js';
import type { ChatRequest } from '../../chat/request.js';
import { noSearch, offersWeb, type WebNotice } from '../common/request/web-search.js';

/** The server that is asked. */
export interface ChatServer {
  readonly title: string;
  /** The host of its address. */
  readonly host: string;
}

const isAt = (host: string, name: string): boolean => host === name || host.endsWith(`.${name}`);

/** Models that search by themselves: those at Perplexity, and those that OpenAI and OpenRouter name so. */
const searchesItself = ({ model }: ChatRequest, { host }: ChatServer): boolean =>
  isAt(host, 'perplexity.ai') || /:online$|-search(?:-|$)|(?:^|\/)sonar/.test(model);

/**
 * What a request by Chat Completions has more for a search. OpenRouter's plugin searches, and is paid, with every request, so it goes only
 * when a search was asked for by name.
 */
export function toVendorSearch(request: ChatRequest, server: ChatServer): { plugins?: { id: 'web' }[] } {
  const isAsked = request.web === 'on' && offersWeb(request) && !searchesItself(request, server);
  return isAsked && isAt(server.host, 'openrouter.ai') ? { plugins: [{ id: 'web' }] } : {};
}

/** Says that there is no search where there is none. */
export function* sayNoSearch(request: ChatRequest, server: ChatServer, notice: WebNotice): Generator<StreamEvent> {
  if (searchesItself(request, server) || 'plugins' in toVendorSearch(request, server)) return;
  yield* notice.say(request, noSearch(server.title));
}
