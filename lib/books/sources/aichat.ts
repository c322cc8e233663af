import { join } from 'node:path';
import { load } from 'js-yaml';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import type { ForeignMessage, Source, Thread } from '../common/book-source.js';
import { textOf } from '../input/texts.js';
import { objectsOf, textIn, timeOf } from './fields.js';

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
        /^ {0,8}- role: (?:system|user|assistant)$/m.test(sample.text))),
  async *threads(file, reading) {
    const text = await textOf(file, reading);
    if (text === null) return;
    if (text.startsWith('# CHAT: ')) return yield* logged(text);
    const name = file.path.replace(/^.*\//, '').replace(/\.ya?ml$/, '');
    const session = parsed(text);
    if (session === null) return reading.problem(file, 'line 1', 'not valid YAML');
    const all = [...objectsOf(session, 'compressed_messages'), ...objectsOf(session, 'messages')];
    const messages = all.flatMap((message, index) => messageOf(message, String(index), textIn(session, 'model')));
    yield { id: name, title: name, messages };
  },
};

function parsed(text: string): JsonObject | null {
  try {
    const value: unknown = load(text);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function messageOf(message: JsonObject, id: string, model: string): readonly ForeignMessage[] {
  const role = textIn(message, 'role');
  const text =
    textIn(message, 'content') ||
    objectsOf(message, 'content')
      .map((part) => textIn(part, 'text'))
      .join('\n');
  if (text === '' || (role !== 'user' && role !== 'assistant')) return [];
  const content = [{ type: 'text', text }] as const;
  return [{ id, at: '', role, content, ...(role === 'assistant' && model !== '' && { model }) }];
}

/**
 * Each entry of the log: `# CHAT: summary [time] (role)`, the question and the answer, each ending with a line of
 * dashes.
 */
function* logged(text: string): Generator<Thread> {
  for (const entry of text.split(/^# CHAT: /m).slice(1)) {
    const end = entry.indexOf('\n');
    const head = entry.slice(0, end);
    const [time = ''] = /\d{4}-\d\d-\d\dT[\d:.+Z-]{8,24}/.exec(head) ?? [];
    const [asked = '', answered = ''] = entry.slice(end + 1).split(/^-{8}$/m);
    const at = timeOf(time);
    const said = [
      { id: 'question', at, role: 'user', content: [{ type: 'text', text: asked.trim() }] },
      { id: 'answer', at, role: 'assistant', content: [{ type: 'text', text: answered.trim() }] },
    ] as const;
    yield { id: head, messages: said.filter(({ content: [part] }) => part.text !== '') };
  }
}
