import { isJsonObject } from '../../chat/json.js';
import type { ForeignMessage, Source } from '../common/book-source.js';
import { objectsIn } from '../input/objects.js';
import { branchOf, timeIn } from './branch.js';
import { objectIn, objectsOf, textIn, timeOf } from './fields.js';

/** The export of Open WebUI (Settings, Chats): a list of chats, each a tree. */
export const openWebui: Source = {
  name: 'open-webui',
  title: 'Open WebUI',
  places: () => [],
  recognises: ({ form, ...sample }) =>
    form === 'json' && 'first' in sample && isJsonObject(objectIn(objectIn(sample.first, 'chat'), 'history').messages),
  async *threads(file, reading) {
    for await (const { value, place } of objectsIn(file, reading)) {
      const history = objectIn(objectIn(value, 'chat'), 'history');
      const nodes = objectIn(history, 'messages');
      const branch = branchOf({
        ...{ nodes, current: textIn(history, 'currentId'), parent: 'parentId', timeOf: timeIn('timestamp') },
        onCycle: () => reading.problem(file, place, 'the conversation leads back into itself'),
      });
      reading.leaveOut('messages of other branches', Object.keys(nodes).length - branch.length);
      const title = textIn(value, 'title') || textIn(objectIn(value, 'chat'), 'title');
      yield {
        id: textIn(value, 'id') || (branch[0] ?? place),
        ...(title !== '' && { title }),
        messages: branch.flatMap((id): readonly ForeignMessage[] => {
          const node = objectIn(nodes, id);
          const [role, model] = [textIn(node, 'role'), textIn(node, 'model')];
          const text =
            textIn(node, 'content') ||
            objectsOf(node, 'content')
              .map((part) => textIn(part, 'text'))
              .join('\n');
          if (text === '' || (role !== 'user' && role !== 'assistant')) return [];
          const content = [{ type: 'text', text }] as const;
          return [{ id, at: timeOf(node.timestamp), role, content, ...(model !== '' && role !== 'user' && { model }) }];
        }),
      };
    }
  },
};
