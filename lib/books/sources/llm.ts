import type { JsonObject } from '../../chat/json.js';
import type { Usage } from '../../chat/message.js';
import type { ForeignMessage, Source } from '../common/book-source.js';
import { objectsIn } from '../input/objects.js';
import { textIn, timeOf } from './fields.js';

/** What `llm logs --json -n 0` prints: a record for each prompt, with its answer. */
export const llm: Source = {
  name: 'llm',
  title: 'llm',
  places: () => [],
  recognises: (sample) =>
    sample.form === 'json' &&
    'prompt' in sample.first &&
    'response' in sample.first &&
    'conversation_id' in sample.first,
  async *threads(file, reading) {
    for await (const { value } of objectsIn(file, reading)) {
      const title = textIn(value, 'conversation_name');
      const messages = messagesOf(value);
      if (messages.length === 0) continue;
      yield { id: textIn(value, 'conversation_id') || textIn(value, 'id'), ...(title !== '' && { title }), messages };
    }
  },
};

function messagesOf(record: JsonObject): readonly ForeignMessage[] {
  const [id, model] = [textIn(record, 'id'), textIn(record, 'model')];
  // It is in UTC, without saying so.
  const time = textIn(record, 'datetime_utc');
  const at = timeOf(/Z|[+-]\d\d:?\d\d$/.test(time) || time === '' ? time : `${time}Z`);
  const [prompt, response] = [textIn(record, 'prompt'), textIn(record, 'response')];
  const usage = usageOf(record);
  const asked = { id: `${id}/prompt`, at, role: 'user', content: [{ type: 'text', text: prompt }] } as const;
  const said = { id: `${id}/response`, at, role: 'assistant', content: [{ type: 'text', text: response }] } as const;
  return [
    ...(prompt === '' ? [] : [asked]),
    ...(response === '' ? [] : [{ ...said, ...(model !== '' && { model }), ...(usage !== null && { usage }) }]),
  ];
}

function usageOf({ input_tokens: input, output_tokens: output }: JsonObject): Usage | null {
  if (typeof input !== 'number' || typeof output !== 'number') return null;
  return { input_tokens: input, output_tokens: output, cached_tokens: 0, context_tokens: input + output };
}
