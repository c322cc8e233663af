import { isJsonObject } from '../../chat/json.js';
import { asSources, joinSources, type Source, uniqueSources } from '../../chat/message.js';

/** The fields in which servers with a web search list the pages, next to a piece of the answer. */
export interface NamedSources {
  /** Perplexity, xAI: URLs in the order of the numbers in the text, repeated with every piece. */
  readonly citations?: unknown;
  /** Perplexity: the same with titles. */
  readonly search_results?: unknown;
}

/** Collects the pages of a Chat Completions answer. */
export class ChatSources {
  #numbered: readonly Source[] = [];
  #annotated: readonly Source[] = [];

  /** `annotations`: those of a piece (OpenAI, OpenRouter). */
  read({ citations, search_results }: NamedSources, annotations: unknown): void {
    // The usual case.
    if (citations === undefined && search_results === undefined && annotations === undefined) return;
    const found = objects(search_results).map(({ url, title }) => [url, title] as const);
    const addresses = Array.isArray(citations) ? citations : [];
    const titleOf = (address: unknown) => found.find(([url]) => url === address)?.[1];
    const numbered = asSources(addresses.length > 0 ? addresses.map((url) => [url, titleOf(url)] as const) : found);
    if (numbered.length > 0) this.#numbered = numbered;
    const cited = objects(annotations).map((note) => (isJsonObject(note.url_citation) ? note.url_citation : note));
    const pages = uniqueSources(asSources(cited.map(({ url, title }) => [url, title])));
    this.#annotated = joinSources(this.#annotated, pages);
  }

  /** All pages, those with numbers first. */
  get all(): readonly Source[] {
    return joinSources(this.#numbered, this.#annotated);
  }
}

function objects(list: unknown) {
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}
