import { createHash } from 'node:crypto';
import type { JsonObject } from '../chat/json.js';
import { isPart } from '../chat/message.js';
import { partMarkdown } from '../chat/transcript.js';
import type { Named } from '../registry.js';
import { visibleLine } from '../screen/text/neutralise.js';
import { ENTRY_OF_HI } from './sources/claude-code.js';
import { BY_HI, escapedHeadings, headingOf } from './sources/markdown.js';
import {
  type LeaveOut,
  outputOf,
  type SpokenFile,
  type SpokenMessage,
  type SpokenThread,
  textsOf,
  uuidOf,
} from './spoken.js';

/** What a form is given while it writes the conversations of a book. */
export interface Writing {
  /** Counts what does not fit into the form. */
  readonly leaveOut: LeaveOut;
  /**
   * Writes a file beside the conversations, under a name that begins with `stem`, and resolves to that name; null if
   * its bytes are lost, which is counted.
   */
  store(stem: string, file: SpokenFile): Promise<string | null>;
}

/** A form in which other programs keep conversations, and hi reads them. */
export interface ExportForm extends Named {
  /** The file of all conversations of a book, a JSON array; null where each has one of its own. */
  readonly array: string | null;
  /** The name of the file of one conversation, without what makes it unique. */
  nameOf(thread: SpokenThread): string;
  readonly extension: string;
  /** A conversation as elements of the array, or as pieces of its file. */
  write(thread: SpokenThread, writing: Writing): Promise<readonly (JsonObject | string)[]>;
}

/** The export of ChatGPT, as open programs read it too; its form is described in `sources/chatgpt`. */
const chatgptJson: ExportForm = {
  name: 'chatgpt-json',
  array: 'conversations.json',
  extension: '.json',
  nameOf: ({ uuid }) => uuid,
  async write({ uuid, title, messages }, writing) {
    const root: ChatgptNode = { id: uuidOf(uuid, 'root'), parent: null, children: [], message: null };
    const mapping: Record<string, ChatgptNode> = { [root.id]: root };
    let last = root;
    for (const spoken of messages)
      for (const message of await chatgptMessages(spoken, writing)) {
        const id = `${message.id}`;
        last.children.push(id);
        last = { id, parent: last.id, children: [], message };
        mapping[id] = last;
      }
    const times = messages.map(({ message }) => message.at).filter((at) => at !== '');
    const create_time = secondsOf(times[0] ?? '');
    const ids = { id: uuid, conversation_id: uuid, current_node: last.id };
    return [{ title, create_time, update_time: secondsOf(times.at(-1) ?? ''), mapping, ...ids }];
  },
};

type ChatgptNode = {
  readonly id: string;
  readonly parent: string | null;
  readonly children: string[];
  readonly message: JsonObject | null;
};

const secondsOf = (at: string): number | null => (at === '' ? null : Date.parse(at) / 1000);

/** A message as ChatGPT has it: thoughts, calls and results are messages of their own. */
async function chatgptMessages(spoken: SpokenMessage, writing: Writing): Promise<readonly JsonObject[]> {
  const { message, uuid, files, parts } = spoken;
  const made: JsonObject[] = [];
  const add = (content: JsonObject, more: JsonObject = {}, name: string | null = null, recipient = 'all'): void => {
    const model = message.model === undefined ? {} : { model_slug: message.model };
    made.push({
      id: made.length === 0 ? uuid : uuidOf(uuid, String(made.length)),
      author: { role: message.role, name, metadata: {} },
      ...{ create_time: secondsOf(message.at), update_time: null, content, status: 'finished_successfully' },
      ...{ end_turn: true, weight: 1, metadata: { ...model, ...more }, recipient },
    });
  };
  const pointers: JsonObject[] = [];
  const attachments: JsonObject[] = [];
  for (const file of files) {
    const id = `file-${uuidOf(uuid, String(attachments.length + pointers.length)).replaceAll('-', '')}`;
    const name = await writing.store(id, file);
    if (name === null) continue;
    if (file.part?.type === 'image') pointers.push(pointerOf(id, file.part));
    else attachments.push({ id, name: file.name, mime_type: file.mime });
  }
  const attached = attachments.length === 0 ? {} : { attachments };
  if (message.role === 'user') add(multimodal(pointers, textsOf(parts)), attached);
  else {
    for (const part of parts) {
      if (part.type === 'thinking') {
        const thoughts = [{ summary: '', content: part.text }];
        add({ content_type: 'thoughts', thoughts, source_analysis_msg_id: '' });
      } else if (part.type === 'tool_call')
        add({ content_type: 'code', language: 'json', text: JSON.stringify(part.args) }, {}, null, part.name);
      else if (part.type === 'tool_result') add(multimodal([], outputOf(part)), {}, part.name);
      else add(multimodal([], part.text));
    }
    if (pointers.length + attachments.length > 0) add(multimodal(pointers, ''), attached);
  }
  return made;
}

const pointerOf = (id: string, { bytes, width, height }: { bytes: number; width?: number; height?: number }) => ({
  ...{ content_type: 'image_asset_pointer', asset_pointer: `file-service://${id}`, size_bytes: bytes },
  ...{ width: width ?? null, height: height ?? null },
});

/** Open WebUI takes the first part as the text. */
const multimodal = (pointers: readonly JsonObject[], text: string): JsonObject => ({
  content_type: pointers.length > 0 ? 'multimodal_text' : 'text',
  parts: [text, ...pointers],
});

/** A session of Claude Code, to be put into a folder of `~/.claude/projects`. */
const claudeCode: ExportForm = {
  name: 'claude-code',
  array: null,
  extension: '.jsonl',
  nameOf: ({ uuid }) => uuid,
  async write({ uuid: sessionId, title, messages }, writing) {
    const lines: JsonObject[] = [];
    if (title !== '') lines.push({ type: 'custom-title', customTitle: title, sessionId });
    let parentUuid: string | null = null;
    for (const { message, uuid, files, parts } of messages) {
      const { role, at, cwd, model } = message;
      const origin = { userType: 'external', entrypoint: ENTRY_OF_HI, version: '2.0.0' };
      const base = { isSidechain: false, ...origin, cwd, sessionId };
      const time = at === '' ? {} : { timestamp: at };
      const said: { readonly isMeta?: true; readonly content: readonly JsonObject[] }[] = [];
      const blocks: JsonObject[] = [];
      for (const file of files) {
        const block = await claudeBlock(file, writing);
        // Claude Code marks so what it adds to the user's words.
        if (block?.type === 'text') said.push({ isMeta: true, content: [block] });
        else if (block !== null && role === 'user') blocks.push(block);
        else if (block !== null) writing.leaveOut('pictures of the model');
      }
      const content = [...blocks, ...parts.map(claudePart)];
      if (content.length > 0) said.push({ content });
      for (const [index, { isMeta, content }] of said.entries()) {
        const id: string = index === said.length - 1 ? uuid : uuidOf(uuid, String(index));
        const line = { parentUuid, ...base, ...(isMeta && { isMeta }), uuid: id, ...time };
        parentUuid = id;
        lines.push(
          role === 'assistant'
            ? { ...line, type: 'assistant', message: claudeAnswer(id, model, message.usage, content) }
            : { ...line, type: 'user', message: { role: 'user', content } },
        );
      }
    }
    return lines;
  },
};

function claudeAnswer(
  id: string,
  model: string | undefined,
  usage: SpokenMessage['message']['usage'],
  content: readonly JsonObject[],
): JsonObject {
  const { input_tokens: all = 0, output_tokens = 0, cached_tokens = 0 } = usage ?? {};
  // Anthropic does not count what was read from the cache as input.
  const counted = { input_tokens: all - cached_tokens, output_tokens, cache_read_input_tokens: cached_tokens };
  const stop = { stop_reason: 'end_turn', stop_sequence: null };
  return { id, type: 'message', role: 'assistant', model: model ?? '', content, ...stop, usage: counted };
}

/** The largest file that is put into a line, in bytes: hi reads no line above 32 MB. */
const LARGEST_IN_LINE = 20_000_000;

async function claudeBlock(file: SpokenFile, { leaveOut }: Writing): Promise<JsonObject | null> {
  const bytes = await file.read();
  const kind = file.part?.type;
  if (bytes === null) leaveOut('files that are lost');
  else if (kind === undefined) return { type: 'text', text: `${file.name}:\n${Buffer.from(bytes).toString()}` };
  else if (bytes.length > LARGEST_IN_LINE || (kind === 'document' && file.mime !== 'application/pdf'))
    leaveOut('recordings and large files');
  else {
    const data = Buffer.from(bytes).toString('base64');
    return { type: kind, source: { type: 'base64', media_type: file.mime, data } };
  }
  return null;
}

function claudePart(part: SpokenMessage['parts'][number]): JsonObject {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'thinking':
      return { type: 'thinking', thinking: part.text, signature: '' };
    case 'tool_call':
      return { type: 'tool_use', id: part.call_id, name: part.name, input: part.args };
    case 'tool_result': {
      const failed = part.error === undefined ? {} : { is_error: true };
      return { type: 'tool_result', tool_use_id: part.call_id, content: outputOf(part), ...failed };
    }
  }
}

/** What `llm logs --json` prints: a record for each answer, with what was asked. */
const llm: ExportForm = {
  name: 'llm',
  array: 'logs.json',
  extension: '.json',
  nameOf: ({ uuid }) => uuid,
  async write({ uuid: conversation_id, title, messages }, writing) {
    const records: JsonObject[] = [];
    const model = messages.find(({ message }) => message.model !== undefined)?.message.model ?? null;
    const ids = { conversation_id, conversation_name: title === '' ? null : title, conversation_model: model };
    let asked: SpokenMessage[] = [];
    for (const spoken of messages) {
      const { role } = spoken.message;
      // A record has one prompt.
      if (role === 'user' && asked.some(({ message }) => message.role === 'user')) {
        records.push({ ...(await llmRecord(asked, null, writing)), ...ids });
        asked = [];
      }
      if (role !== 'assistant') asked.push(spoken);
      else {
        records.push({ ...(await llmRecord(asked, spoken, writing)), ...ids });
        asked = [];
      }
    }
    if (asked.length > 0) records.push({ ...(await llmRecord(asked, null, writing)), ...ids });
    return records;
  },
};

async function llmRecord(
  asked: readonly SpokenMessage[],
  answer: SpokenMessage | null,
  writing: Writing,
): Promise<JsonObject> {
  const user = asked.find(({ message }) => message.role === 'user');
  const { at: ended = '', model = null, usage } = answer?.message ?? {};
  const began = (user ?? asked[0])?.message.at ?? ended;
  const attachments: JsonObject[] = [];
  const fragments: JsonObject[] = [];
  for (const { uuid, files } of answer === null ? asked : [...asked, answer]) {
    for (const file of files) {
      const name = file.part === null ? null : await writing.store(uuidOf(uuid, file.part.sha256), file);
      const shown = { type: file.mime, path: name, url: null, content_length: file.part?.bytes ?? 0 };
      if (file.part === null) fragments.push(await fragmentOf(file));
      else if (name !== null) attachments.push({ id: file.part.sha256, ...shown });
    }
  }
  const parts = answer?.parts ?? [];
  writing.leaveOut('thoughts of the model', parts.filter(isPart('thinking')).length);
  const took = ended === '' || began === '' ? null : Math.max(0, Date.parse(ended) - Date.parse(began));
  return {
    id: (answer ?? user ?? asked[0])?.uuid ?? '',
    ...{ model, prompt: textsOf(user?.parts ?? []), system: null, prompt_json: null, options_json: {} },
    response: textsOf(parts),
    // llm has one time for both, its beginning.
    response_json: answer === null ? null : { completed_at: ended },
    ...{ duration_ms: took, datetime_utc: began.replace('Z', '+00:00') },
    ...{ input_tokens: usage?.input_tokens ?? null, output_tokens: usage?.output_tokens ?? null, token_details: null },
    ...{ attachments, prompt_fragments: fragments, system_fragments: [], tools: [] },
    tool_calls: parts.filter(isPart('tool_call')).map((call) => ({
      ...{ tool_id: null, name: call.name, arguments: call.args, tool_call_id: call.call_id },
    })),
    tool_results: asked
      .flatMap((one) => one.parts.filter(isPart('tool_result')))
      .map((part) => ({ tool_id: null, name: part.name, output: outputOf(part), tool_call_id: part.call_id })),
  };
}

async function fragmentOf(file: SpokenFile): Promise<JsonObject> {
  const content = Buffer.from((await file.read()) ?? []).toString();
  return { hash: createHash('sha256').update(content).digest('hex'), content, aliases: [file.name] };
}

/** A file of Markdown for each conversation, with a heading for each message. */
const markdown: ExportForm = {
  name: 'markdown',
  array: null,
  extension: '.md',
  nameOf({ title, messages }) {
    const day = messages.find(({ message }) => message.at !== '')?.message.at.slice(0, 10) ?? '';
    const plain = title.replace(/[^\p{L}\p{N} ,_-]+/gu, ' ').replace(/ +/g, ' ');
    return `${day} ${plain.trim()}`.trim().slice(0, 80).trim() || 'conversation';
  },
  async write({ uuid, title, messages }, writing) {
    const pieces = [`${BY_HI}\n`];
    if (title !== '') pieces.push(`\n# ${visibleLine(title)}\n`);
    for (const { message, uuid: own, files, parts } of messages) {
      const add = (what: Parameters<typeof headingOf>[0], text: string): void =>
        void pieces.push(`\n${headingOf(what, message.at, message.model)}\n\n${escapedHeadings(text)}\n`);
      for (const file of files) {
        const name = await writing.store(uuidOf(uuid, own, file.name), file);
        const mark = file.part?.type === 'image' ? '!' : '';
        if (name !== null) add('Attached', `${mark}[${visibleLine(file.name).replace(/[[\]]/g, '')}](${name})`);
      }
      const said = parts.filter(isPart('text'));
      writing.leaveOut('thoughts of the model', parts.filter(isPart('thinking')).length);
      if (message.role !== 'tool' && said.length > 0)
        add(message.role === 'user' ? 'User' : 'Assistant', textsOf(said));
      for (const part of parts)
        if (part.type === 'tool_call' || part.type === 'tool_result') add('Tool', partMarkdown(part, message.role));
    }
    return pieces;
  },
};

/** Every form. */
export const exportForms: readonly ExportForm[] = [chatgptJson, claudeCode, llm, markdown];
