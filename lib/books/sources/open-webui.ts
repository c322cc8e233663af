import { isJsonObject, type JsonObject } from '../../chat/json.js';
import type { ForeignMessage, Reading, Source, SourceFile } from '../common/book-source.js';
import { objectsIn } from '../input/objects.js';
import { branchOf, timeIn } from './branch.js';
import { objectIn, objectsOf, textIn, textsIn, timeOf } from './fields.js';

/**
 * The export of Open WebUI (Settings, Chats): a list of chats, each a tree, or of early versions a list. The fields of
 * `chat` may be those of the record itself.
 */
export const openWebui: Source = {
  name: 'open-webui',
  title: 'Open WebUI',
  places: () => [],
  recognises: (sample) =>
    sample.form === 'json' &&
    (isJsonObject(objectIn(chatOf(sample.first), 'history').messages) ||
      (isJsonObject(sample.first.chat) && Array.isArray(sample.first.chat.messages))),
  async *threads(file, reading) {
    for await (const { value, place } of objectsIn(file, reading)) {
      const nodes = shownIn(chatOf(value), file, place, reading);
      const title = textIn(value, 'title') || textIn(chatOf(value), 'title');
      yield {
        id: textIn(value, 'id') || textIn(chatOf(value), 'id') || (nodes[0]?.[0] ?? place),
        ...(title !== '' && { title }),
        messages: nodes.flatMap(([id, node]) => messageOf(id, node, reading)),
      };
    }
  },
};

const chatOf = (record: JsonObject): JsonObject => (isJsonObject(record.chat) ? record.chat : record);

/** The messages that the user saw last, each with its id. */
function shownIn(
  chat: JsonObject,
  file: SourceFile,
  place: string,
  reading: Reading,
): readonly (readonly [id: string, node: JsonObject])[] {
  const history = objectIn(chat, 'history');
  const nodes = objectIn(history, 'messages');
  if (Object.keys(nodes).length === 0)
    return objectsOf(chat, 'messages').map((message) => [textIn(message, 'id'), message]);
  const branch = branchOf({
    ...{ nodes, current: textIn(history, 'currentId'), parent: 'parentId', timeOf: timeIn('timestamp') },
    onCycle: () => reading.problem(file, place, 'the conversation leads back into itself'),
  });
  reading.leaveOut('messages of other branches', Object.keys(nodes).length - branch.length);
  return branch.map((id) => [id, objectIn(nodes, id)]);
}

function messageOf(id: string, node: JsonObject, reading: Reading): readonly ForeignMessage[] {
  const [role, model, text] = [textIn(node, 'role'), textIn(node, 'model'), textsIn(node.content).join('\n')];
  if (role === 'system') reading.leaveOut('instructions');
  if (text === '' || (role !== 'user' && role !== 'assistant')) return [];
  const content = [{ type: 'text', text }] as const;
  return [{ id, at: timeOf(node.timestamp), role, content, ...(model !== '' && role !== 'user' && { model }) }];
}
