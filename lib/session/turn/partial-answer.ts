import type { StreamEvent } from '../../chat/event.js';
import type { AnswerPart, Source } from '../../chat/message.js';

export type StreamEnd = Extract<StreamEvent, { type: 'end' }>;

/** An answer while it arrives. If the stream ends early, it contains the part received. */
export interface PartialAnswer {
  parts: AnswerPart[];
  /** Null until the stream has ended properly. */
  end: StreamEnd | null;
  /** Present if it is based on a web search. */
  sources?: readonly Source[];
}
