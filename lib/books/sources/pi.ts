import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import type { Part, Usage } from '../../chat/message.js';
import type { ForeignMessage, Source } from '../common/book-source.js';
import { objectsIn } from '../input/objects.js';
import { branchOf, timeIn } from './branch.js';
import { objectIn, objectsOf, textIn, timeOf } from './fields.js';

/**
 * The sessions of pi, `~/.pi/agent/sessions/FOLDER/TIME_ID.jsonl`: a tree, whose last line is where the user is. The
 * first sessions were lists.
 */
export const pi: Source = {
  name: 'pi',
  title: 'pi',
  places: ({ home, env }) => [join(env.PI_CODING_AGENT_DIR || join(home, '.pi', 'agent'), 'sessions')],
  recognises: (sample) => sample.form === 'json' && sample.first.type === 'session' && 'cwd' in sample.first,
  async *threads(file, reading) {
    const entries: JsonObject[] = [];
    let session: JsonObject = {};
    for await (const { value } of objectsIn(file, reading)) {
      if (value.type === 'session') session = value;
      else entries.push(value);
    }
    const isTree = entries.some((entry) => typeof entry.parentId === 'string');
    const nodes = Object.fromEntries(entries.map((entry, index) => [textIn(entry, 'id') || String(index), entry]));
    const ids = isTree
      ? branchOf({
          ...{ nodes, current: textIn(entries.at(-1) ?? {}, 'id'), parent: 'parentId', timeOf: timeIn('timestamp') },
          onCycle: () => reading.problem(file, 'line 1', 'the session leads back into itself'),
        })
      : Object.keys(nodes);
    const said = (id: string): boolean => objectIn(nodes, id).type === 'message';
    reading.leaveOut('messages of other branches', Object.keys(nodes).filter(said).length - ids.filter(said).length);
    const cwd = textIn(session, 'cwd');
    const messages = ids.flatMap((id) => messageOf(id, objectIn(nodes, id), cwd));
    if (messages.length > 0) yield { id: textIn(session, 'id') || reading.nameOf(file), messages };
  },
};

function messageOf(id: string, entry: JsonObject, cwd: string): readonly ForeignMessage[] {
  const message = objectIn(entry, 'message');
  if (entry.type !== 'message') return [];
  const base = { id, at: timeOf(entry.timestamp) || timeOf(message.timestamp), ...(cwd !== '' && { cwd }) };
  const parts = objectsOf(message, 'content');
  const typed = textIn(message, 'content');
  const all: readonly JsonObject[] = typed === '' ? parts : [{ type: 'text', text: typed }];
  const text = all
    .map((part) => (part.type === 'text' ? textIn(part, 'text') : ''))
    .filter((one) => one !== '')
    .join('\n\n');
  if (message.role === 'user') return text === '' ? [] : [{ ...base, role: 'user', content: [{ type: 'text', text }] }];
  if (message.role === 'bashExecution') return ran(base, message);
  if (message.role === 'toolResult') {
    const call = { call_id: textIn(message, 'toolCallId'), name: textIn(message, 'toolName') || 'tool' };
    const result: Part = {
      type: 'tool_result',
      ...call,
      ...(message.isError === true ? { error: text } : { result: text }),
    };
    return [{ ...base, role: 'tool', content: [result] }];
  }
  const content = all.flatMap(modelPart);
  if (message.role !== 'assistant' || content.length === 0) return [];
  const [model, usage] = [textIn(message, 'model'), usageOf(objectIn(message, 'usage'))];
  return [{ ...base, role: 'assistant', content, ...(model !== '' && { model }), ...(usage !== null && { usage }) }];
}

/** A command that the user ran, with its output. */
function ran(base: Pick<ForeignMessage, 'id' | 'at' | 'cwd'>, message: JsonObject): readonly ForeignMessage[] {
  const output: Part = {
    ...{ type: 'tool_result', call_id: base.id, name: 'command', result: textIn(message, 'output') },
  };
  return [
    { ...base, role: 'user', content: [{ type: 'text', text: `!${textIn(message, 'command')}` }] },
    { ...base, id: `${base.id}/output`, role: 'tool', content: [output] },
  ];
}

function modelPart(part: JsonObject): readonly Part[] {
  const text = textIn(part, 'text');
  if (part.type === 'text') return text === '' ? [] : [{ type: 'text', text }];
  if (part.type === 'thinking') return [{ type: 'thinking', text: textIn(part, 'thinking') }];
  if (part.type !== 'toolCall') return [];
  const args = isJsonObject(part.arguments) ? part.arguments : {};
  return [{ type: 'tool_call', call_id: textIn(part, 'id'), name: textIn(part, 'name'), args }];
}

function usageOf(usage: JsonObject): Usage | null {
  const count = (name: string): number => (typeof usage[name] === 'number' ? usage[name] : 0);
  const cached = count('cacheRead');
  const [input, output] = [count('input') + cached + count('cacheWrite'), count('output')];
  if (input + output === 0) return null;
  return { input_tokens: input, output_tokens: output, cached_tokens: cached, context_tokens: input + output };
}
