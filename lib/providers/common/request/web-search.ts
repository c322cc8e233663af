import type { StreamEvent } from '../../../chat/event.js';
import type { ChatRequest } from '../../../chat/request.js';

/** Whether the model is offered its vendor's search of the web. */
export function offersWeb({ web, facts }: ChatRequest): boolean {
  return (web === 'on' || web === 'auto') && facts?.takes?.web !== false;
}

/** Says, once for each adapter, that a search was asked for that cannot be had. */
export class WebNotice {
  #isSaid = false;

  /** `reason`: whole sentences. Nothing is said where the search was not asked for by name. */
  *say({ web }: ChatRequest, reason: string): Generator<StreamEvent> {
    if (web !== 'on' || this.#isSaid) return;
    this.#isSaid = true;
    yield { type: 'notice', text: reason };
  }
}

/** What is said where there is no search. */
export function noSearch(title: string): string {
  return `No web search: ${title} offers none that hi can use. The answer is from the model alone.`;
}
