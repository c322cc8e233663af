import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import type { Part, Usage } from '../../chat/message.js';
import type { ForeignMessage, Source } from '../common/book-source.js';
import { objectsIn } from '../input/objects.js';
import { objectIn, objectsOf, textIn, timeOf } from './fields.js';

/**
 * The sessions of Gemini CLI, `~/.gemini/tmp/PROJECT/chats/session-*.json`, or as lines, where a message may be written
 * again, or be taken back.
 */
export const geminiCli: Source = {
  name: 'gemini-cli',
  title: 'Gemini CLI',
  places: ({ home }) => [join(home, '.gemini', 'tmp')],
  recognises: (sample) => sample.form === 'json' && 'sessionId' in sample.first && 'projectHash' in sample.first,
  async *threads(file, reading) {
    const messages = new Map<string, JsonObject>();
    let [id, isOfModel] = ['', false];
    for await (const { value } of objectsIn(file, reading)) {
      id ||= textIn(value, 'sessionId');
      isOfModel ||= value.kind === 'subagent';
      const rewound = textIn(value, '$rewindTo');
      if (rewound !== '') takeBack(messages, rewound);
      for (const message of [...objectsOf(value, 'messages'), ...objectsOf(objectIn(value, '$set'), 'messages')])
        messages.set(textIn(message, 'id'), message);
      if (typeof value.type === 'string' && 'id' in value) messages.set(textIn(value, 'id'), value);
    }
    yield { id, messages: [...messages.values()].flatMap((message) => messagesOf(message, isOfModel)) };
  },
};

/** Removes a message and all that follow it. */
function takeBack(messages: Map<string, JsonObject>, id: string): void {
  const ids = [...messages.keys()];
  const place = ids.indexOf(id);
  if (place >= 0) for (const later of ids.slice(place)) messages.delete(later);
}

function messagesOf(message: JsonObject, isOfModel: boolean): readonly ForeignMessage[] {
  const [id, at, model] = [textIn(message, 'id'), timeOf(message.timestamp), textIn(message, 'model')];
  const text =
    textIn(message, 'content') ||
    objectsOf(message, 'content')
      .map((part) => textIn(part, 'text'))
      .filter((one) => one !== '')
      .join('\n\n');
  const spoken: readonly Part[] = text === '' ? [] : [{ type: 'text', text }];
  if (message.type === 'user') {
    if (text === '') return [];
    return [
      { id, at, content: spoken, ...(isOfModel ? { role: 'assistant', rests_on: 'foreign' } : { role: 'user' }) },
    ];
  }
  if (message.type !== 'gemini') return [];
  const thoughts = objectsOf(message, 'thoughts').map((one): Part => {
    return { type: 'thinking', text: [textIn(one, 'subject'), textIn(one, 'description')].filter(Boolean).join(': ') };
  });
  const calls = objectsOf(message, 'toolCalls');
  const made = calls.map((call): Part => ({ type: 'tool_call', ...nameOf(call), args: objectIn(call, 'args') }));
  const content = [...thoughts, ...spoken, ...made];
  const usage = usageOf(objectIn(message, 'tokens'));
  const answer = {
    id,
    at,
    role: 'assistant',
    content,
    ...(model !== '' && { model }),
    ...(usage && { usage }),
  } as const;
  const results = calls.map((call): Part => ({ type: 'tool_result', ...nameOf(call), result: resultOf(call) }));
  return [
    ...(content.length === 0 ? [] : [answer]),
    ...(results.length === 0 ? [] : [{ id: `${id}/tools`, at, role: 'tool', content: results } as const]),
  ];
}

const nameOf = (call: JsonObject) => ({ call_id: textIn(call, 'id'), name: textIn(call, 'name') });

function resultOf(call: JsonObject): string {
  const outputs = objectsOf(call, 'result').map((part) => {
    const response = objectIn(objectIn(part, 'functionResponse'), 'response');
    return textIn(response, 'output') || (Object.keys(response).length > 0 ? JSON.stringify(response) : '');
  });
  const text = outputs.filter((one) => one !== '').join('\n');
  return text || textIn(call, 'result') || textIn(call, 'resultDisplay');
}

function usageOf(tokens: JsonObject): Usage | null {
  const count = (name: string): number => (typeof tokens[name] === 'number' ? tokens[name] : 0);
  const [input, output] = [count('input'), count('output') + count('thoughts')];
  if (!isJsonObject(tokens) || input + output === 0) return null;
  return { input_tokens: input, output_tokens: output, cached_tokens: count('cached'), context_tokens: input + output };
}
