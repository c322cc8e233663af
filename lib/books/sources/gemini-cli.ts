import { join } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import type { Part, Usage } from '../../chat/message.js';
import type { ForeignMessage, Reading, Source } from '../common/book-source.js';
import { objectsIn } from '../input/objects.js';
import { isList, isNotice, objectIn, objectsOf, textIn, textsIn, timeOf } from './fields.js';

/**
 * The sessions of Gemini CLI, `~/.gemini/tmp/PROJECT/chats/session-*.json`, or as lines, where a message may be written
 * again, or be taken back. What `$set` has are the messages as the model gets them, with summaries and other ids: they
 * count only where no line is a message.
 */
export const geminiCli: Source = {
  name: 'gemini-cli',
  title: 'Gemini CLI',
  places: ({ home }) => [join(home, '.gemini', 'tmp')],
  recognises: (sample) => sample.form === 'json' && 'sessionId' in sample.first && 'projectHash' in sample.first,
  async *threads(file, reading) {
    const [messages, sent] = [new Map<string, JsonObject>(), new Map<string, JsonObject>()];
    let [id, isOfModel] = ['', false];
    for await (const { value } of objectsIn(file, reading)) {
      id ||= textIn(value, 'sessionId');
      isOfModel ||= value.kind === 'subagent';
      const rewound = textIn(value, '$rewindTo');
      if (rewound !== '') reading.leaveOut('messages that were taken back', takeBack(messages, rewound));
      for (const message of objectsOf(objectIn(value, '$set'), 'messages')) sent.set(nameIn(message, sent), message);
      for (const message of typeof value.type === 'string' ? [value] : objectsOf(value, 'messages'))
        messages.set(nameIn(message, messages), message);
    }
    const all = [...(messages.size > 0 ? messages : sent).values()];
    yield {
      id: id || reading.nameOf(file),
      messages: all.flatMap((message) => messagesOf(message, isOfModel, reading)),
    };
  },
};

/** The id of a message; its place where it has none. */
const nameIn = (message: JsonObject, before: ReadonlyMap<string, JsonObject>): string =>
  textIn(message, 'id') || `#${before.size}`;

/** Removes a message and all that follow it, and returns how many. */
function takeBack(messages: Map<string, JsonObject>, id: string): number {
  const ids = [...messages.keys()];
  const later = messages.has(id) ? ids.slice(ids.indexOf(id)) : [];
  for (const one of later) messages.delete(one);
  return later.length;
}

/** The texts of a message without thoughts, of which others of its fields tell. */
const spokenIn = (content: JsonValue | undefined): readonly string[] =>
  (isList(content) ? content : [content]).flatMap((part) =>
    isJsonObject(part) && part.thought === true ? [] : textsIn(part),
  );

function messagesOf(message: JsonObject, isOfModel: boolean, reading: Reading): readonly ForeignMessage[] {
  const [id, at, model] = [textIn(message, 'id'), timeOf(message.timestamp), textIn(message, 'model')];
  // What the user typed, where files that they name stand in `content`.
  const texts = spokenIn(message.displayContent ?? message.content);
  const said = message.type === 'user' ? texts.filter((text) => !isNotice(text)) : texts;
  reading.leaveOut('notices of the program', texts.length - said.length);
  const text = said.join('\n\n');
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
  const parts = [...thoughts, ...spoken, ...made];
  const usage = usageOf(objectIn(message, 'tokens'));
  const answer = {
    id,
    at,
    role: 'assistant',
    content: parts,
    ...(model !== '' && { model }),
    ...(usage && { usage }),
  } as const;
  const results = calls.map((call): Part => ({ type: 'tool_result', ...nameOf(call), result: resultOf(call) }));
  return [
    ...(parts.length === 0 ? [] : [answer]),
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
