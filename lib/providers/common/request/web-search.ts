import type { StreamEvent } from '../../../chat/event.js';
import type { ChatRequest } from '../../../chat/request.js';

/** Whether the request offers the vendor's web search. */
export function offersWeb({ web, facts }: ChatRequest): boolean {
  return (web === 'on' || web === 'auto') && facts?.takes?.web !== false;
}

/** Reports once per adapter that a requested search is not available. */
export class WebNotice {
  #isSaid = false;

  /** `reason`: whole sentences. Yields nothing unless the user asked for the search explicitly. */
  *say({ web }: ChatRequest, reason: string): Generator<StreamEvent> {
    if (web !== 'on' || this.#isSaid) return;
    this.#isSaid = true;
    yield { type: 'notice', text: reason };
  }
}

/** The notice for a vendor without a search. */
export function noSearch(title: string): string {
  return `No web search: ${title} offers none that hi can use. The answer is from the model alone.`;
}
