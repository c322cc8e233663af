import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import type { Part } from '../../chat/message.js';
import type { AttachedFile, ForeignMessage, Reading, Source, SourceFile, Thread } from '../common/book-source.js';
import { objectsIn } from '../input/objects.js';
import { branchOf } from './branch.js';
import { listIn, objectIn, objectsOf, textIn, timeOf } from './fields.js';

/**
 * The export of ChatGPT: `conversations.json`, since 2026 `conversations-000.json` and so on, with files beside it.
 * OpenAI documents how to get it, not its form. A conversation is a tree; the branch that ends at `current_node` is the
 * one that the user saw last.
 */
export const chatgpt: Source = {
  name: 'chatgpt',
  title: 'ChatGPT',
  places: () => [],
  recognises: (sample) =>
    sample.form === 'json' &&
    isJsonObject(sample.first.mapping) &&
    ('current_node' in sample.first || 'conversation_id' in sample.first || 'create_time' in sample.first),
  async *threads(file, reading) {
    for await (const { value, place } of objectsIn(file, reading)) {
      if (isJsonObject(value.mapping)) yield threadOf(value, file, place, reading);
      else reading.problem(file, place, 'not a conversation');
    }
  },
};

function threadOf(conversation: JsonObject, file: SourceFile, place: string, reading: Reading): Thread {
  const nodes = objectIn(conversation, 'mapping');
  const branch = branchOf({
    ...{ nodes, current: textIn(conversation, 'current_node'), parent: 'parent' },
    timeOf: (node) => timeOf(objectIn(node, 'message').create_time),
    onCycle: () => reading.problem(file, place, 'the conversation leads back into itself'),
  });
  const taken = new Set(branch);
  const others = Object.keys(nodes).filter((id) => !taken.has(id) && isSaid(objectIn(objectIn(nodes, id), 'message')));
  reading.leaveOut('messages of other branches', others.length);
  const messages = branch.flatMap((id) => messageOf(id, objectIn(objectIn(nodes, id), 'message'), reading) ?? []);
  const title = textIn(conversation, 'title');
  return {
    id: textIn(conversation, 'conversation_id') || textIn(conversation, 'id') || (branch[0] ?? place),
    ...(title !== '' && { title }),
    messages,
  };
}

/** Whether the user or the model said it in the conversation: not hidden, and not what ChatGPT itself adds. */
function isSaid(message: JsonObject): boolean {
  const role = textIn(objectIn(message, 'author'), 'role');
  const metadata = objectIn(message, 'metadata');
  const kind = textIn(objectIn(message, 'content'), 'content_type');
  return (
    ['user', 'assistant', 'tool'].includes(role) &&
    metadata.is_visually_hidden_from_conversation !== true &&
    metadata.is_user_system_message !== true &&
    !PROFILES.includes(kind)
  );
}

/** Custom instructions and memory, which every conversation repeats. */
const PROFILES: readonly string[] = ['user_editable_context', 'model_editable_context'];

function messageOf(node: string, message: JsonObject, reading: Reading): ForeignMessage | null {
  if (Object.keys(message).length === 0) return null;
  if (!isSaid(message)) {
    reading.leaveOut('hidden messages and instructions');
    return null;
  }
  const id = textIn(message, 'id') || node;
  const author = objectIn(message, 'author');
  const metadata = objectIn(message, 'metadata');
  const at = timeOf(message.create_time) || timeOf(message.update_time);
  const model = textIn(metadata, 'model_slug');
  const role = textIn(author, 'role');
  const content =
    role === 'user'
      ? userParts(message, reading)
      : role === 'tool'
        ? toolParts(id, textIn(author, 'name'), message, reading)
        : modelParts(id, message, reading);
  if (content.length === 0) return null;
  if (role === 'assistant') return { id, role, at, content, ...(model !== '' && { model }) };
  return { id, role: role === 'user' ? 'user' : 'tool', at, content };
}

/** Files first, what was typed last. */
function userParts(message: JsonObject, reading: Reading): ForeignMessage['content'] {
  const [text, files] = contentOf(objectIn(message, 'content'), reading);
  const known = new Set(files.map(({ file }) => file.path));
  const attached = objectsOf(objectIn(message, 'metadata'), 'attachments').flatMap((attachment) => {
    const found = fileOf(textIn(attachment, 'id'), textIn(attachment, 'name'), reading);
    return found === null || known.has(found.file.path) ? [] : [found];
  });
  return [...files, ...attached, ...(text === '' ? [] : [{ type: 'text', text } as const])];
}

/** What a tool returned, and the pictures that it drew. */
function toolParts(id: string, name: string, message: JsonObject, reading: Reading): ForeignMessage['content'] {
  const [text, files] = contentOf(objectIn(message, 'content'), reading);
  const result: Part = { type: 'tool_result', call_id: id, name: name || 'tool', result: text };
  return text === '' && files.length === 0 ? [] : [result, ...files];
}

function modelParts(id: string, message: JsonObject, reading: Reading): ForeignMessage['content'] {
  const content = objectIn(message, 'content');
  const recipient = textIn(message, 'recipient');
  const kind = textIn(content, 'content_type');
  if (kind === 'thoughts' || kind === 'reasoning_recap') {
    const thoughts = objectsOf(content, 'thoughts').map((one) => textIn(one, 'content') || textIn(one, 'summary'));
    const text = [...thoughts, textIn(content, 'content')].filter((one) => one !== '').join('\n\n');
    return text === '' ? [] : [{ type: 'thinking', text }];
  }
  const [text, files] = contentOf(content, reading);
  if (recipient !== '' && recipient !== 'all')
    return text === '' ? [] : [{ type: 'tool_call', call_id: id, name: recipient, args: { input: text } }];
  return [...(text === '' ? [] : [{ type: 'text', text } as const]), ...files];
}

/** The text of a message, whatever its kind, and its pictures and recordings. */
function contentOf(content: JsonObject, reading: Reading): readonly [string, readonly AttachedFile[]] {
  const files: AttachedFile[] = [];
  const texts: string[] = [];
  for (const part of listIn(content, 'parts')) {
    if (typeof part === 'string') texts.push(part);
    else if (isJsonObject(part)) {
      texts.push(textIn(part, 'text'));
      const found = pointerOf(part, reading);
      if (found !== null) files.push(found);
    }
  }
  for (const name of ['text', 'result', 'output_str'] as const) texts.push(textIn(content, name));
  const screenshot = content.screenshot;
  const shown = isJsonObject(screenshot) ? pointerOf(screenshot, reading) : null;
  if (shown !== null) files.push(shown);
  return [texts.filter((one) => one !== '').join('\n\n'), files];
}

/** The file that `asset_pointer` names: `file-service://file-abc` or `sediment://file_abc`. */
function pointerOf(part: JsonObject, reading: Reading): AttachedFile | null {
  const recording: JsonValue | undefined = part.audio_asset_pointer;
  const pointer = textIn(part, 'asset_pointer') || textIn(isJsonObject(recording) ? recording : {}, 'asset_pointer');
  return pointer === '' ? null : fileOf(pointer.split(/[#?]/)[0]?.split('/').at(-1) ?? '', '', reading);
}

function fileOf(id: string, name: string, reading: Reading): AttachedFile | null {
  const file = id === '' ? null : reading.beside(id);
  if (file !== null) return { type: 'attached', file, name: name || file.path.replace(/^.*\//, '') };
  reading.leaveOut('files that the export lacks');
  return null;
}
