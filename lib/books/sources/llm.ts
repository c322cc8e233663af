import type { JsonObject } from '../../chat/json.js';
import type { Part, Usage } from '../../chat/message.js';
import type { AttachedFile, ForeignMessage, Reading, Source } from '../common/book-source.js';
import { objectsIn } from '../input/objects.js';
import { objectIn, objectsOf, textIn, timeOf } from './fields.js';

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
      const messages = messagesOf(value, reading);
      if (messages.length === 0) continue;
      yield { id: textIn(value, 'conversation_id') || textIn(value, 'id'), ...(title !== '' && { title }), messages };
    }
  },
};

function messagesOf(record: JsonObject, reading: Reading): readonly ForeignMessage[] {
  const [id, model] = [textIn(record, 'id'), textIn(record, 'model')];
  // It is in UTC, without saying so.
  const time = textIn(record, 'datetime_utc');
  const at = timeOf(/Z|[+-]\d\d:?\d\d$/.test(time) || time === '' ? time : `${time}Z`);
  // Of its own, llm has one time for both; an export of hi knows more.
  const { completed_at: completed } = objectIn(record, 'response_json');
  const usage = usageOf(record);
  const results = objectsOf(record, 'tool_results').map(resultOf);
  const said = [...textPart(record, 'response'), ...objectsOf(record, 'tool_calls').map(callOf)];
  const all: readonly ForeignMessage[] = [
    { id: `${id}/results`, at, role: 'tool', content: results },
    { id: `${id}/prompt`, at, role: 'user', content: [...attachedTo(record, reading), ...textPart(record, 'prompt')] },
    {
      ...{ id: `${id}/response`, at: completed === undefined ? at : timeOf(completed), role: 'assistant' },
      ...{ content: said, ...(model !== '' && { model }), ...(usage !== null && { usage }) },
    },
  ];
  return all.filter(({ content }) => content.length > 0);
}

function textPart(record: JsonObject, name: string): readonly Part[] {
  const text = textIn(record, name);
  return text === '' ? [] : [{ type: 'text', text }];
}

const callOf = (call: JsonObject): Part => ({
  type: 'tool_call',
  ...{ call_id: textIn(call, 'tool_call_id'), name: textIn(call, 'name'), args: objectIn(call, 'arguments') },
});

const resultOf = (result: JsonObject): Part => ({
  type: 'tool_result',
  ...{ call_id: textIn(result, 'tool_call_id'), name: textIn(result, 'name'), result: textIn(result, 'output') },
});

/** The attachments that are beside the record, as in an export of hi. llm itself keeps them elsewhere. */
function attachedTo(record: JsonObject, reading: Reading): readonly AttachedFile[] {
  return objectsOf(record, 'attachments').flatMap((one): readonly AttachedFile[] => {
    const name = textIn(one, 'path').replace(/^.*\//, '');
    const file = name === '' ? null : reading.beside(name);
    if (file !== null) return [{ type: 'attached', file, name }];
    reading.leaveOut('files that the export lacks');
    return [];
  });
}

function usageOf({ input_tokens: input, output_tokens: output }: JsonObject): Usage | null {
  if (typeof input !== 'number' || typeof output !== 'number') return null;
  return { input_tokens: input, output_tokens: output, cached_tokens: 0, context_tokens: input + output };
}
