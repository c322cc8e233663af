import { join } from 'node:path';
import { FAILSAFE_SCHEMA, load, nullCoreTag } from 'js-yaml';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import type { Part } from '../../chat/message.js';
import type { ForeignMessage, Reading, Source, Thread } from '../common/book-source.js';
import { textOf } from '../input/texts.js';
import { objectIn, objectsOf, textIn, textsIn, timeOf } from './fields.js';

/**
 * The sessions of aichat, `sessions/NAME.yaml`, which have no times, and its log of single questions, `messages.md`.
 */
export const aichat: Source = {
  name: 'aichat',
  title: 'aichat',
  places: ({ home, env }) => [env.AICHAT_CONFIG_DIR || join(env.XDG_CONFIG_HOME || join(home, '.config'), 'aichat')],
  recognises: (sample) =>
    sample.form === 'text' &&
    (/^# CHAT: /.test(sample.text) ||
      (/^(?:model|messages|compressed_messages):/m.test(sample.text) &&
        /^ {0,8}(?:- )? {0,8}role: ["']?(?:system|user|assistant)["']?$/m.test(sample.text))),
  async *threads(file, reading) {
    const text = await textOf(file, reading);
    if (text === null) return;
    if (text.startsWith('# CHAT: ')) return yield* logged(text);
    const session = parsed(text);
    if (session === null) return reading.problem(file, 'line 1', 'not valid YAML');
    const all = [...objectsOf(session, 'compressed_messages'), ...objectsOf(session, 'messages')];
    const model = textIn(session, 'model');
    const messages = all.flatMap((message, index) => messagesOf(message, String(index), model, reading));
    yield { id: reading.nameOf(file), title: file.path.replace(/^.*\//, '').replace(/\.ya?ml$/, ''), messages };
  },
};

/** aichat writes texts that look like a number or a date without quotes: all are texts. */
const TEXTS = FAILSAFE_SCHEMA.withTags(nullCoreTag);

function parsed(text: string): JsonObject | null {
  try {
    // aichat writes no aliases, and a few of them make a tree that fills the memory.
    const value: unknown = load(text, { schema: TEXTS, maxAliases: 0 });
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** A message. Where the model called tools, `content` has its text beside their results. */
function messagesOf(message: JsonObject, id: string, model: string, reading: Reading): readonly ForeignMessage[] {
  const role = textIn(message, 'role');
  const text = textsIn(message.content).join('\n');
  if (role === 'system') reading.leaveOut('instructions');
  if (role === 'system' || role === '') return [];
  const ran = objectsOf(objectIn(message, 'content'), 'tool_results').map((one, index) => {
    const called = objectIn(one, 'call');
    const call = { call_id: textIn(called, 'id') || `${id}/${index}`, name: textIn(called, 'name') };
    const result = typeof one.output === 'string' ? one.output : JSON.stringify(one.output ?? '');
    return { call: { ...call, args: objectIn(called, 'arguments') }, result: { ...call, result } };
  });
  const content: readonly Part[] = [
    ...(text === '' ? [] : [{ type: 'text', text } as const]),
    ...ran.map(({ call }) => ({ type: 'tool_call', ...call }) as const),
  ];
  const results = ran.map(({ result }) => ({ type: 'tool_result', ...result }) as const);
  const said: readonly ForeignMessage[] = [
    role === 'user'
      ? { id, at: '', role, content }
      : { id, at: '', role: 'assistant', content, ...(model !== '' && { model }) },
    { id: `${id}/results`, at: '', role: 'tool', content: results },
  ];
  return said.filter((one) => one.content.length > 0);
}

/**
 * Each entry of the log: `# CHAT: summary [time] (role)`, the question and the answer, each ending with a line of
 * dashes.
 */
function* logged(text: string): Generator<Thread> {
  const entries: string[][] = [];
  const all = text.split(/\r?\n/);
  for (const [index, line] of all.entries()) {
    const isFirst = index === 0 || (all[index - 1] === '' && all[index - 2] === DASHES);
    if (isFirst && line.startsWith(HEAD)) entries.push([line]);
    else entries.at(-1)?.push(line);
  }
  for (const [head = '', ...lines] of entries) {
    const [time = ''] = /\d{4}-\d\d-\d\dT[\d:.+Z-]{8,24}/.exec(head) ?? [];
    const [asked, answered] = [lines.indexOf(DASHES), lines.lastIndexOf(DASHES)];
    const at = timeOf(time);
    const question = lines.slice(0, asked < 0 ? lines.length : asked);
    const answer = asked < 0 ? [] : lines.slice(asked + 1, answered === asked ? lines.length : answered);
    const said = [
      { id: 'question', at, role: 'user', content: [{ type: 'text', text: question.join('\n').trim() }] },
      { id: 'answer', at, role: 'assistant', content: [{ type: 'text', text: answer.join('\n').trim() }] },
    ] as const;
    yield { id: head.slice(HEAD.length), messages: said.filter(({ content: [part] }) => part.text !== '') };
  }
}

const HEAD = '# CHAT: ';
const DASHES = '--------';
