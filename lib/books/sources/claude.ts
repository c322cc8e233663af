import type { JsonObject } from '../../chat/json.js';
import { textBlock } from '../../chat/marked-text.js';
import type { Part } from '../../chat/message.js';
import type { ForeignMessage, Source } from '../common/book-source.js';
import { objectsIn } from '../input/objects.js';
import { branchOf, timeIn } from './branch.js';
import { listIn, objectIn, objectsOf, textIn, timeOf } from './fields.js';

/**
 * The export of Claude.ai: `conversations.json`. Newer ones have trees: an edited question begins another branch. Files
 * are named, but their bytes are not there; what was read of them is. A model is not named.
 */
export const claude: Source = {
  name: 'claude',
  title: 'Claude',
  places: () => [],
  recognises: (sample) => sample.form === 'json' && Array.isArray(sample.first.chat_messages) && 'uuid' in sample.first,
  async *threads(file, reading) {
    for await (const { value, place } of objectsIn(file, reading)) {
      if (!Array.isArray(value.chat_messages)) continue;
      const all = objectsOf(value, 'chat_messages');
      const nodes = Object.fromEntries(all.map((message) => [textIn(message, 'uuid'), message]));
      const isTree = new Set(all.map((message) => textIn(message, 'parent_message_uuid'))).size < all.length;
      const hasParents = all.some((message) => textIn(message, 'parent_message_uuid') !== '');
      const branch = (): readonly string[] =>
        branchOf({
          ...{ nodes, current: textIn(value, 'current_leaf_message_uuid'), parent: 'parent_message_uuid' },
          timeOf: timeIn('created_at'),
          onCycle: () => reading.problem(file, place, 'the conversation leads back into itself'),
        });
      const shown = hasParents && isTree ? branch().map((id) => objectIn(nodes, id)) : all;
      reading.leaveOut('messages of other branches', all.length - shown.length);
      const title = textIn(value, 'name');
      yield {
        id: textIn(value, 'uuid'),
        ...(title !== '' && { title }),
        messages: shown.flatMap(messagesOf),
      };
    }
  },
};

function messagesOf(message: JsonObject): readonly ForeignMessage[] {
  const [id, at] = [textIn(message, 'uuid'), timeOf(message.created_at)];
  const parts = objectsOf(message, 'content');
  const texts = parts.filter(isSpoken).map((part) => textIn(part, 'text'));
  if (textIn(message, 'sender') === 'human') {
    const text = texts.join('\n\n') || textIn(message, 'text');
    const files = objectsOf(message, 'attachments').flatMap(fileText);
    const content = [...files, ...(text === '' ? [] : [{ type: 'text', text } as const])];
    return content.length === 0 ? [] : [{ id, at, role: 'user', content }];
  }
  const spoken = texts.length === 0 && textIn(message, 'text') !== '' ? [{ type: 'text', text: message.text }] : [];
  return answered(id, at, [...parts, ...spoken]);
}

/** Whether a part has words of its speaker: a text, or of a kind that came later. */
const isSpoken = (part: JsonObject): boolean =>
  textIn(part, 'text') !== '' && !/^(?:thinking|tool_)/.test(textIn(part, 'type'));

/** What Claude read of an attached file. */
function fileText(attachment: JsonObject): readonly Part[] {
  const text = textIn(attachment, 'extracted_content');
  if (text === '') return [];
  return [{ type: 'text', text: textBlock('file', { name: textIn(attachment, 'file_name') }, text) }];
}

/** An answer, with the results of its tools between its parts. */
function answered(id: string, at: string, parts: readonly JsonObject[]): readonly ForeignMessage[] {
  const messages: ForeignMessage[] = [];
  const add = (role: 'assistant' | 'tool', part: Part): void => {
    const last = messages.at(-1);
    if (last?.role === role) messages[messages.length - 1] = { ...last, content: [...last.content, part] };
    else messages.push({ id: messages.length === 0 ? id : `${id}/${messages.length}`, at, role, content: [part] });
  };
  for (const part of parts) {
    if (isSpoken(part)) add('assistant', { type: 'text', text: textIn(part, 'text') });
    if (part.type === 'thinking' && textIn(part, 'thinking') !== '')
      add('assistant', { type: 'thinking', text: textIn(part, 'thinking') });
    const call = {
      call_id: textIn(part, 'id') || textIn(part, 'tool_use_id') || id,
      name: textIn(part, 'name') || 'tool',
    };
    if (part.type === 'tool_use') add('assistant', { type: 'tool_call', ...call, args: objectIn(part, 'input') });
    if (part.type === 'tool_result') add('tool', { type: 'tool_result', ...call, result: resultText(part) });
  }
  return messages;
}

const resultText = (part: JsonObject): string =>
  textIn(part, 'content') ||
  listIn(part, 'content')
    .map((one) => (typeof one === 'object' && one !== null && 'text' in one ? String(one.text) : ''))
    .filter((text) => text !== '')
    .join('\n');
