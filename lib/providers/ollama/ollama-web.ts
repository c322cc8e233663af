import { addUsage, NO_USAGE, type StreamEvent } from '../../chat/event.js';
import { isJsonObject, parseObject } from '../../chat/json.js';
import { type AnswerPart, isPart, type ToolCallPart, type Usage } from '../../chat/message.js';
import { type ChatRequest, estimateTokens, type ToolSpec } from '../../chat/request.js';
import { firstCharacters } from '../../chat/text.js';
import { asSources, type Source } from '../../chat/web-source.js';
import { isAbort } from '../../errors.js';
import { type Fetch, RefusedRequest } from '../../http/fetch.js';
import { offersWeb } from '../common/fit-request.js';
import type { ProviderSettings } from '../common/provider.js';
import { withoutVersion } from '../common/sdk.js';

/** A search result with its text. */
interface Found {
  readonly title: string;
  readonly url: string;
  readonly content: string;
}

/** An address for searches, and the key for it. */
interface SearchPlace {
  readonly address: string;
  readonly key: string | null;
}

const CLOUD = 'https://ollama.com';

/** The path that a signed-in server forwards to Ollama's cloud. */
const FORWARDED_PATH = '/api/experimental/web_search';

/**
 * Ollama's web search: https://docs.ollama.com/capabilities/web-search. It needs a key, and a local server may forward
 * it. The configured key is sent only to the server that it belongs to.
 */
export class OllamaSearch {
  readonly #fetch: Fetch;
  #places: readonly SearchPlace[];

  constructor(fetch: Fetch, { apiBase, apiKey, env }: Pick<ProviderSettings, 'apiBase' | 'apiKey' | 'env'>) {
    this.#fetch = fetch;
    const cloudKey = env.OLLAMA_API_KEY?.trim() || null;
    const base = withoutVersion(apiBase ?? 'http://127.0.0.1:11434').replace(/(?<!\/)\/+$/, '');
    const isCloud = /(?:^|\.)ollama\.com$/.test(new URL(base).hostname);
    const own = isCloud ? (apiKey ?? cloudKey) : apiKey;
    const places = [
      ...(own === null ? [] : [{ address: `${base}/api/web_search`, key: own }]),
      ...(isCloud ? [] : [{ address: base + FORWARDED_PATH, key: own }]),
      ...(isCloud || cloudKey === null ? [] : [{ address: `${CLOUD}/api/web_search`, key: cloudKey }]),
    ];
    this.#places = own === null && cloudKey === null ? [] : places;
  }

  /** Whether there is a key. */
  get isAvailable(): boolean {
    return this.#places.length > 0;
  }

  /**
   * The results, best first. Tries the addresses in order and then keeps using the first that answers. Throws the last
   * one's error if all fail.
   */
  async find(query: string, signal: AbortSignal): Promise<readonly Found[]> {
    let failure: unknown = null;
    for (const place of this.#places) {
      try {
        const found = await this.#ask(place, query, signal);
        this.#places = [place];
        return found;
      } catch (thrown) {
        if (isAbort(thrown)) throw thrown;
        failure = thrown;
      }
    }
    throw failure;
  }

  async #ask({ address, key }: SearchPlace, query: string, signal: AbortSignal): Promise<readonly Found[]> {
    const response = await this.#fetch(address, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(key !== null && { Authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ query, max_results: MOST_RESULTS }),
      signal,
    });
    const results = parseObject(await response.text())?.results;
    if (!Array.isArray(results)) throw new Error('The search returned no list of results.');
    return results.filter(isJsonObject).map(({ title, url, content }) => ({
      title: typeof title === 'string' ? title : '',
      url: typeof url === 'string' ? url : '',
      content: typeof content === 'string' ? content : '',
    }));
  }
}

const MOST_RESULTS = 5;

/** The tool definition for the model. */
const TOOL: ToolSpec = {
  name: 'web_search',
  description: 'Search the web for what is current or not known. Returns titles, addresses and excerpts of pages.',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string', description: 'What to search for, in a few words.' } },
    required: ['query'],
  },
};

/** The maximum number of searches in one answer. */
const MOST_SEARCHES = 8;

type End = Extract<StreamEvent, { type: 'end' }>;

/**
 * One answer, joined from its pieces: after each search call the model is asked again with the results. The answer
 * consists of its text and the pages. `once` requests a piece.
 */
export async function* withSearches<Request extends ChatRequest>(
  request: Request,
  search: OllamaSearch,
  once: (request: Request) => AsyncIterable<StreamEvent>,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  let asked: Request = { ...request, tools: [...request.tools, TOOL] };
  let usage: Usage | null = null;
  for (let searches = 0; ; ) {
    const content: AnswerPart[] = [];
    let end: End | null = null;
    for await (const event of once(asked)) {
      if (event.type === 'part') content.push(event.part);
      if (event.type === 'end') end = event;
      // A call is passed on only if the answer ends with it.
      else if (event.type !== 'part' || event.part.type !== 'tool_call') yield event;
    }
    if (end === null) return;
    if (end.usage !== null) usage = addUsage(usage ?? NO_USAGE, end.usage);
    const calls = content.filter(isPart('tool_call'));
    const wanted = calls.filter(({ name }) => name === TOOL.name);
    if (wanted.length === 0) {
      for (const part of calls) yield { type: 'part', part };
      return yield { ...end, usage };
    }
    searches += wanted.length;
    const found = yield* searchAll(wanted, search, signal);
    asked = withResults(asked, content, wanted, found);
    if (searches >= MOST_SEARCHES) asked = { ...asked, tools: request.tools };
  }
}

/** The results of each call in order, as text for the model. */
async function* searchAll(
  calls: readonly ToolCallPart[],
  search: OllamaSearch,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent, readonly string[]> {
  const texts: string[] = [];
  for (const { args } of calls) {
    try {
      const found = await search.find(String(args.query ?? ''), signal);
      const sources: readonly Source[] = asSources(found.map(({ url, title }) => [url, title]));
      yield { type: 'sources', sources };
      texts.push(JSON.stringify(found));
    } catch (thrown) {
      if (isAbort(thrown)) throw thrown;
      const reason = reasonOf(thrown);
      yield { type: 'notice', text: `The web search failed: ${reason}` };
      texts.push(JSON.stringify({ error: reason }));
    }
  }
  return texts;
}

function reasonOf(thrown: unknown): string {
  if (!(thrown instanceof RefusedRequest)) return thrown instanceof Error ? thrown.message : String(thrown);
  if (thrown.status === 401 || thrown.status === 403)
    return 'Ollama refused the key. Get one at https://ollama.com/settings/keys.';
  return `HTTP ${thrown.status}.`;
}

/** The share of the free window that the results of one search may use. */
const SHARE = 0.5;

/** The next request after searches: with the answer so far and as much of the results as there is room for. */
function withResults<Request extends ChatRequest>(
  request: Request,
  content: readonly AnswerPart[],
  calls: readonly ToolCallPart[],
  found: readonly string[],
): Request {
  const { provider, model } = { provider: 'ollama', model: request.model };
  const room = Math.max(0, request.context_window - request.estimated_tokens);
  const most = Math.max(1000, Math.floor((4 * room * SHARE) / calls.length));
  const said = content.filter(({ type }) => type !== 'tool_call');
  const results = calls.map(({ call_id, name }, at) => ({
    type: 'tool_result' as const,
    call_id,
    name,
    result: firstCharacters(found[at] ?? '', most),
  }));
  const size = results.reduce((sum, { result }) => sum + result.length, 0);
  return {
    ...request,
    messages: [
      ...request.messages,
      { role: 'assistant', content: [...said, ...calls], provider, model },
      { role: 'tool', content: results },
    ],
    estimated_tokens: request.estimated_tokens + estimateTokens(size),
  };
}

/** Whether the request offers the search. */
export const canSearch = (request: ChatRequest, search: OllamaSearch): boolean =>
  offersWeb(request) && search.isAvailable && request.facts?.takes?.tools !== false;

/** Why there is no search, in whole sentences. */
export function noSearchText({ facts, model }: ChatRequest): string {
  if (facts?.takes?.tools === false)
    return `No web search: '${model}' does not support tools, which Ollama's search needs. The answer is from the model alone.`;
  return "No web search: Ollama's search needs a key. Set OLLAMA_API_KEY, or api_key (https://ollama.com/settings/keys). The answer is from the model alone.";
}
