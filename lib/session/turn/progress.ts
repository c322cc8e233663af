import type { ChatEventOf, ImageFile, ToolCallReport, TurnReport } from '../../chat/event.js';
import { joinSources, type Source, type ToolCallPart, type ToolResultPart, textOf } from '../../chat/message.js';
import type { PartialAnswer } from './partial-answer.js';

/** The outcome of a turn, without what only the session knows. */
export type TurnOutcome = Pick<TurnReport, 'text' | 'stop_reason' | 'tool_calls' | 'model' | 'sources' | 'images'>;

/** The outcome of a turn so far: the newest text of an answer, its calls, its sources. */
export class Progress {
  rounds = 0;
  #text = '';
  #sources: readonly Source[] = [];
  #model: string;
  readonly #calls: ToolCallReport[] = [];
  /** The calls that ran, which may be others than the model wrote: a tool may call another. */
  readonly #ran = new Map<string, Pick<ToolCallReport, 'name' | 'args'>>();
  readonly #images: ImageFile[] = [];

  constructor(model: string) {
    this.#model = model;
  }

  /** Whether any part of an answer is in the history. */
  get kept(): boolean {
    return this.rounds > 0;
  }

  take(answer: PartialAnswer): void {
    this.rounds += 1;
    this.#text = textOf(answer.parts) || this.#text;
    this.#sources = joinSources(this.#sources, answer.sources ?? []);
  }

  takeImage({ path, mime, bytes }: ImageFile): void {
    this.#images.push({ path, mime, bytes });
  }

  takeStart({ call_id, name, args }: ChatEventOf<'tool-start'>): void {
    this.#ran.set(call_id, { name, args });
  }

  takeResults(calls: readonly ToolCallPart[], results: readonly ToolResultPart[]): void {
    for (const { call_id, name, args } of calls) {
      const result = results.find((one) => one.call_id === call_id);
      if (result === undefined) continue;
      this.#calls.push({
        ...(this.#ran.get(call_id) ?? { name, args }),
        ...(result.error === undefined ? { result: result.result } : { error: result.error }),
      });
    }
  }

  outcome(stop_reason: TurnOutcome['stop_reason']): TurnOutcome {
    return {
      text: this.#text,
      model: this.#model,
      stop_reason,
      tool_calls: this.#calls,
      sources: this.#sources,
      images: this.#images,
    };
  }
}
