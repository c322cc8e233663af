import { addUsage, type ChatEvent, type ChatEventOf } from '../../chat/event.js';
import type { JsonValue } from '../../chat/json.js';
import { codeBlocks } from '../../chat/marked-text.js';
import { type ErrorDetails, HiError } from '../../errors.js';
import type { TurnOptions, UserInput } from '../../session/common/deps.js';
import type { Session } from '../../session/session.js';
import type { Structure } from './structure.js';

type TurnEnd = ChatEventOf<'turn-end'>;

/** An answer that is not what the schema says. */
export class MisfitError extends HiError {
  readonly answer: string;

  constructor(message: string, answer: string, details: ErrorDetails) {
    super('malformed', message, details);
    this.answer = answer;
  }
}

/**
 * A turn whose answer must fit a schema: ends with a `print` of its JSON and the value in `turn-end`. If it does not
 * fit, hi asks once more, in a turn of its own, with what is wrong with it; then a `MisfitError` is thrown. What is
 * interrupted ends as any turn does.
 */
export async function* askStructured(
  session: Session,
  input: UserInput,
  structure: Structure,
  options: Pick<TurnOptions, 'model' | 'whole'>,
  signal: AbortSignal,
): AsyncGenerator<ChatEvent> {
  const first = yield* turn(session.send(input, signal, { ...options, schema: structure.asked }));
  const read = structure.read(first.text);
  if ('data' in read) return yield* shown(first, read);
  if (first.stop_reason === 'interrupted') return yield first;
  if (first.stop_reason !== 'end') throw stopped(first, read.wrong);
  yield {
    type: 'notice',
    level: 'warning',
    text: `The answer does not fit the schema: ${read.wrong}. Asking again.`,
  };
  const schema = { ...structure.asked, needsTools: false };
  const again: TurnOptions = { ...options, schema, tools: false };
  const second = together(first, yield* turn(session.send(correction(read.wrong), signal, again)));
  const corrected = structure.read(second.text);
  if ('data' in corrected) return yield* shown(second, corrected);
  if (second.stop_reason === 'interrupted') return yield second;
  if (second.stop_reason !== 'end') throw stopped(second, corrected.wrong);
  throw new MisfitError(`The answer does not fit the schema: ${corrected.wrong}.`, second.text, {
    hint: 'hi asked twice. Describe what you want in more detail, simplify the schema, or use another model (-m).',
  });
}

/** The events of a turn but for its end, which is returned. */
async function* turn(events: AsyncIterable<ChatEvent>): AsyncGenerator<ChatEvent, TurnEnd> {
  let end: TurnEnd | null = null;
  for await (const event of events) {
    if (event.type === 'turn-end') end = event;
    else yield event;
  }
  if (end === null) throw new Error('A turn ended without its last event.');
  return end;
}

function* shown(
  end: TurnEnd,
  { json, data }: { readonly json: string; readonly data: JsonValue },
): Generator<ChatEvent> {
  yield { type: 'print', text: `${json}\n` };
  yield { ...end, data };
}

function correction(wrong: string): UserInput {
  const text = `Your last answer does not fit the JSON Schema that was asked for: ${wrong}. Answer again, with the corrected JSON alone.`;
  return { text, texts: [], attachments: [] };
}

/** Two turns as one report. */
function together(first: TurnEnd, second: TurnEnd): TurnEnd {
  return {
    ...second,
    usage: addUsage(first.usage, second.usage),
    tool_calls: [...first.tool_calls, ...second.tool_calls],
    images: [...first.images, ...second.images],
    sources: [...first.sources, ...second.sources],
    compaction: second.compaction ?? first.compaction,
  };
}

/** Asking once more would end the same way. */
function stopped({ stop_reason, text }: TurnEnd, wrong: string): HiError {
  if (stop_reason === 'refusal')
    return new HiError('refused', 'The model declined to answer, so there is no JSON.', {
      hint: 'Rephrase the question, or use another model (-m).',
    });
  const why = stop_reason === 'length' ? 'it was cut off' : 'the turn ended before the answer';
  return new MisfitError(`The answer does not fit the schema: ${why}, and ${wrong}.`, text, {
    hint:
      stop_reason === 'length'
        ? 'Ask for less, or raise options.max_output_tokens in config.json.'
        : 'Say "go on" with the same schema, or raise tools.max_rounds in config.json.',
  });
}

/**
 * The same events, with the answer's last code block in place of its text. Throws a `MisfitError` if there is none. An
 * interrupted turn ends unchanged.
 */
export async function* lastBlock(events: AsyncIterable<ChatEvent>): AsyncGenerator<ChatEvent> {
  for await (const event of events) {
    if (event.type === 'text') continue;
    if (event.type === 'turn-end' && event.stop_reason !== 'interrupted')
      yield { type: 'print', text: `${codeIn(event.text)}\n`, exact: true };
    yield event;
  }
}

function codeIn(answer: string): string {
  const block = codeBlocks(answer).at(-1);
  if (block !== undefined) return block.code;
  throw new MisfitError('The answer has no code block.', answer, { hint: 'Its text is above, on stderr.' });
}
