import type { StreamEvent } from '../../chat/event.js';
import { isJsonObject, type JsonObject, parseObject } from '../../chat/json.js';
import { jsonText } from '../../chat/nesting.js';
import { asSources } from '../../chat/source.js';
import type { StreamedAnswer } from '../common/streamed-answer.js';

/** A page that the text which is open cites. The citation goes back with the text. */
export function* readCitation(
  citation: unknown,
  state: { cited: readonly JsonObject[] },
  answer: StreamedAnswer,
): Generator<StreamEvent> {
  if (!isJsonObject(citation) || citation.type !== 'web_search_result_location') return;
  const kept = parseObject(jsonText(citation));
  if (kept === null) return;
  state.cited = [...state.cited, kept];
  yield* answer.seal('text', { citations: state.cited });
  yield { type: 'sources', sources: asSources([[citation.url, citation.title]]) };
}
