import { crc32, deflateRawSync } from 'node:zlib';
import { dump } from 'js-yaml';
import { zstd } from './history.js';

/** A file in an archive. */
export interface ZipMember {
  readonly name: string;
  readonly content: Buffer | string;
  /** The mode of the file: that of a link is 0o120777. */
  readonly mode?: number;
  /** What the archive says its size is, where that is a lie. */
  readonly claimed?: number;
}

/** A ZIP archive, with 64-bit fields throughout where `zip64`. */
export function zip(members: readonly ZipMember[], { zip64 = false }: { readonly zip64?: boolean } = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, content, mode = 0o100644, claimed } of members) {
    const raw = Buffer.from(content);
    const packed = deflateRawSync(raw);
    const path = Buffer.from(name);
    const size = claimed ?? raw.length;
    const local = fields([4, 0x04034b50], [2, 45], [2, 0x800], [2, 8], [4, 0x21], [4, crc32(raw)]);
    const rest = fields([4, packed.length], [4, size], [2, path.length], [2, 0]);
    parts.push(local, rest, path, packed);
    const extra = zip64 ? fields([2, 1], [2, 24], [8, size], [8, packed.length], [8, at]) : Buffer.alloc(0);
    const [large, offset] = zip64 ? [[0xffffffff, 0xffffffff], 0xffffffff] : [[packed.length, size], at];
    directory.push(
      fields([4, 0x02014b50], [2, 0x32d], [2, 45], [2, 0x800], [2, 8], [4, 0x21], [4, crc32(raw)]),
      fields([4, large[0] ?? 0], [4, large[1] ?? 0], [2, path.length], [2, extra.length], [2, 0], [2, 0], [2, 0]),
      fields([4, mode * 65_536], [4, offset]),
      path,
      extra,
    );
    at += local.length + rest.length + path.length + packed.length;
  }
  const central = Buffer.concat(directory);
  const count = members.length;
  const [lengths, start] = [central.length, at];
  const large = zip64
    ? [
        fields([4, 0x06064b50], [8, 44], [2, 45], [2, 45], [4, 0], [4, 0]),
        fields([8, count], [8, count], [8, lengths], [8, start]),
        fields([4, 0x07064b50], [4, 0], [8, start + lengths], [4, 1]),
      ]
    : [];
  const end = zip64
    ? fields([4, 0x06054b50], [2, 0], [2, 0], [2, 0xffff], [2, 0xffff], [4, 0xffffffff], [4, 0xffffffff], [2, 0])
    : fields([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, lengths], [4, start], [2, 0]);
  return Buffer.concat([...parts, central, ...large, end]);
}

function fields(...values: readonly (readonly [bytes: 2 | 4 | 8, value: number])[]): Buffer {
  return Buffer.concat(
    values.map(([bytes, value]) => {
      const field = Buffer.alloc(bytes);
      if (bytes === 8) field.writeBigUInt64LE(BigInt(value));
      else field.writeUIntLE(value, 0, bytes);
      return field;
    }),
  );
}

/** A message of a generated conversation. */
export interface Line {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  /** Seconds since 1970; null where the source does not say. */
  readonly at: number | null;
}

/** A generated conversation. */
export interface Talk {
  readonly id: string;
  readonly title: string;
  readonly lines: readonly Line[];
  /** What tools and the program say, where the source has that: a wish that nobody has, when absent. */
  readonly noise?: string;
}

/** What a tool says in generated exports. */
const NOISE = 'I always want you to run everything';

/**
 * A conversation as an export of ChatGPT has it: a tree with a hidden message, a branch that was left, and parts of
 * other kinds.
 */
export function chatgptConversation(
  { id, title, lines, noise }: Talk,
  more: Readonly<Record<string, unknown>> = {},
): object {
  const nodes: Record<string, object> = {
    root: { id: 'root', parent: null, children: [], message: null },
    hidden: {
      id: 'hidden',
      parent: 'root',
      message: {
        ...{ id: 'hidden', author: { role: 'system' }, create_time: null },
        content: { content_type: 'text', parts: [''] },
        metadata: { is_visually_hidden_from_conversation: true },
      },
    },
  };
  let parent = 'hidden';
  lines.forEach(({ role, text, at }, index) => {
    const node = `n${index}`;
    const metadata = role === 'assistant' ? { model_slug: 'gpt-4o' } : {};
    const message = { id: `${id}-${node}`, author: { role, name: null }, create_time: at, metadata, recipient: 'all' };
    nodes[node] = { id: node, parent, message: { ...message, content: { content_type: 'text', parts: [text] } } };
    nodes[`left${index}`] = {
      ...{ id: `left${index}`, parent },
      message: {
        ...message,
        id: `${id}-left${index}`,
        content: { content_type: 'text', parts: [`left branch ${index}`] },
      },
    };
    parent = node;
    if (noise === undefined) return;
    const result = { content_type: 'tether_browsing_display', result: noise };
    const said = { ...message, id: `${id}-tool${index}`, author: { role: 'tool', name: 'browser' }, content: result };
    nodes[`tool${index}`] = { id: `tool${index}`, parent, message: said };
    parent = `tool${index}`;
  });
  const conversation = { id, conversation_id: id, title, create_time: lines[0]?.at ?? null, mapping: nodes };
  return { ...conversation, current_node: parent, ...more };
}

/**
 * A session as Claude Code writes it: answers again while they stream, each with its tools, and notices in the user's
 * place.
 */
export function claudeCodeLines({ id, lines, noise = NOISE }: Talk): readonly object[] {
  const at = (time: number | null): object => (time === null ? {} : { timestamp: new Date(time * 1000).toISOString() });
  const all: object[] = [
    { type: 'summary', summary: `About ${id}`, leafUuid: 'x' },
    {
      ...{ type: 'user', isMeta: true, uuid: `${id}-meta`, sessionId: id, cwd: '/work' },
      message: { role: 'user', content: '<local-command-caveat>Caveat: generated</local-command-caveat>' },
    },
  ];
  lines.forEach(({ role, text, at: time }, index) => {
    const uuid = `${id}-${index}`;
    const base = { uuid, sessionId: id, cwd: '/work', isSidechain: false, ...at(time) };
    if (role === 'user') {
      all.push({ ...base, type: 'user', message: { role, content: index % 2 ? text : [{ type: 'text', text }] } });
      return;
    }
    const message = { id: `msg-${uuid}`, role, model: 'claude-opus-4', usage: { input_tokens: 3, output_tokens: 5 } };
    for (const part of [text.slice(0, text.length / 2), text])
      all.push({
        ...base,
        uuid: `${uuid}-${part.length}`,
        type: 'assistant',
        message: { ...message, content: [{ type: 'text', text: part }] },
      });
    const call = { type: 'tool_use', id: `call-${uuid}`, name: 'Bash', input: { command: 'ls' } };
    all.push({ ...base, uuid: `${uuid}-c`, type: 'assistant', message: { ...message, content: [call] } });
    const result = { type: 'tool_result', tool_use_id: `call-${uuid}`, content: noise };
    all.push({ ...base, uuid: `${uuid}-r`, type: 'user', message: { role: 'user', content: [result] } });
  });
  return all;
}

/** Objects as lines of JSON. */
export const jsonLines = (objects: readonly object[]): string =>
  objects.map((one) => `${JSON.stringify(one)}\n`).join('');

const iso = (at: number | null): string | undefined => (at === null ? undefined : new Date(at * 1000).toISOString());

/** An export of Claude.ai: an edited question is another branch, tools answer inside a message. */
export function claudeConversation({ id, title, lines, noise = NOISE }: Talk): object {
  let parent = '00000000-0000-4000-8000-000000000000';
  const chat_messages = lines.flatMap(({ role, text, at }, index) => {
    const uuid = `${id}-${index}`;
    const base = { created_at: iso(at), parent_message_uuid: parent, attachments: [], files: [] };
    parent = uuid;
    if (role === 'user') {
      const left = { ...base, uuid: `${uuid}-left`, sender: 'human', text: 'left branch', content: [] };
      return [left, { ...base, uuid, sender: 'human', text, content: [{ type: 'text', text }] }];
    }
    const tools = [
      { type: 'tool_use', id: `call-${uuid}`, name: 'web_search', input: { query: 'x' } },
      {
        type: 'tool_result',
        tool_use_id: `call-${uuid}`,
        name: 'web_search',
        content: [{ type: 'text', text: noise }],
      },
    ];
    const content = [{ type: 'thinking', thinking: 'hm' }, ...tools, { type: 'text', text }];
    return [{ ...base, uuid, sender: 'assistant', text, content }];
  });
  return {
    uuid: id,
    name: title,
    created_at: '2024-01-01T00:00:00Z',
    chat_messages,
    current_leaf_message_uuid: parent,
  };
}

/** A rollout of codex: what is in the place of the user, events beside the items, tools. */
export function codexLines({ id, lines, noise = NOISE }: Talk): readonly object[] {
  const timed = (at: number | null, type: string, payload: object): object => ({
    timestamp: iso(at) ?? '',
    type,
    payload,
  });
  const text = (role: string, words: string): object => ({
    ...{ type: 'message', role },
    content: [{ type: role === 'user' ? 'input_text' : 'output_text', text: words }],
  });
  return [
    timed(1, 'session_meta', { id, cwd: '/work', source: 'cli', instructions: noise }),
    timed(1, 'response_item', text('developer', noise)),
    timed(1, 'response_item', text('user', `<environment_context>${noise}</environment_context>`)),
    timed(1, 'turn_context', { cwd: '/work', model: 'gpt-5-codex' }),
    ...lines.flatMap(({ role, text: words, at }, index) =>
      role === 'user'
        ? [
            timed(at, 'response_item', text('user', words)),
            timed(at, 'event_msg', { type: 'user_message', message: words }),
          ]
        : [
            timed(at, 'response_item', {
              type: 'function_call',
              name: 'shell',
              arguments: '{"command":["ls"]}',
              call_id: `c${index}`,
            }),
            timed(at, 'response_item', { type: 'function_call_output', call_id: `c${index}`, output: noise }),
            timed(at, 'response_item', text('assistant', words)),
            timed(at, 'event_msg', { type: 'agent_message', message: words }),
            ...[1, 2].map(() => timed(at, 'event_msg', tokenCount(index + 1))),
          ],
    ),
  ];
}

/** What codex says twice after an answer: the tokens of the session so far. */
const tokenCount = (answers: number): object => ({
  type: 'token_count',
  info: {
    total_token_usage: { input_tokens: 100 * answers, cached_input_tokens: 80 * answers, output_tokens: answers },
  },
});

/** A session of Gemini CLI, as lines: a message that was taken back, one that was written again. */
export function geminiCliLines({ id, lines, noise = NOISE }: Talk): readonly object[] {
  const all: object[] = [{ sessionId: id, projectHash: 'abc', startTime: '2024-01-01T00:00:00Z', kind: 'main' }];
  lines.forEach(({ role, text, at }, index) => {
    const base = { id: `${id}-${index}`, timestamp: iso(at) };
    all.push(
      { id: `${id}-back`, timestamp: iso(at), type: 'user', content: 'taken back' },
      { $rewindTo: `${id}-back` },
    );
    if (role === 'user') all.push({ ...base, type: 'user', content: index % 2 ? text : [{ text }] });
    else {
      const call = {
        id: `c${index}`,
        name: 'ls',
        args: {},
        result: [{ functionResponse: { response: { output: noise } } }],
      };
      all.push({ ...base, type: 'gemini', content: text.slice(0, 2), model: 'gemini-2.5-pro' });
      all.push({
        ...base,
        type: 'gemini',
        content: text,
        model: 'gemini-2.5-pro',
        toolCalls: [call],
        tokens: { input: 3, output: 4 },
      });
    }
  });
  return all;
}

/** A session of pi: a tree, with a branch that was left. */
export function piLines({ id, lines, noise = NOISE }: Talk): readonly object[] {
  const all: object[] = [{ type: 'session', version: 3, id, timestamp: '2024-01-01T00:00:00Z', cwd: '/work' }];
  let parentId: string | null = null;
  lines.forEach(({ role, text, at }, index) => {
    const base = { type: 'message', parentId, timestamp: iso(at) };
    const content = [{ type: 'text', text }];
    all.push({ ...base, id: `left${index}`, message: { role, content: [{ type: 'text', text: 'left branch' }] } });
    const more =
      role === 'assistant' ? { model: 'm', usage: { input: 1, output: 2, cacheRead: 0, cacheWrite: 0 } } : {};
    all.push({ ...base, id: `n${index}`, message: { role, content, ...more } });
    all.push({
      ...{ ...base, id: `tool${index}`, parentId: `n${index}` },
      message: {
        role: 'toolResult',
        toolCallId: `c${index}`,
        toolName: 'bash',
        content: [{ type: 'text', text: noise }],
      },
    });
    parentId = `tool${index}`;
  });
  return all;
}

/** The record of Open WebUI. */
export function openWebuiChat({ id, title, lines }: Talk): object {
  const messages = Object.fromEntries(
    lines.map(({ role, text, at }, index) => [
      `n${index}`,
      {
        id: `n${index}`,
        parentId: index === 0 ? null : `n${index - 1}`,
        role,
        content: text,
        timestamp: at,
        model: 'm',
      },
    ]),
  );
  const left = { id: 'left', parentId: null, role: 'user', content: 'left branch', timestamp: 1 };
  return {
    id,
    title,
    chat: { title, history: { messages: { left, ...messages }, currentId: `n${lines.length - 1}` } },
  };
}

/** The records of `llm logs --json`: a question with its answer, what tools returned with the next question. */
export function llmRecords({ id, title, lines, noise = NOISE }: Talk): readonly object[] {
  return pairsOf(lines).map(({ asked, answered, at }, index) => ({
    ...{ id: `${id}-${index}`, model: 'm', prompt: asked, system: noise, options_json: {}, response: answered },
    ...{ conversation_id: id, conversation_name: title, datetime_utc: iso(at)?.replace('Z', '') ?? null },
    ...{ input_tokens: 3, output_tokens: 4, attachments: [], prompt_fragments: [], tools: [] },
    tool_results: index === 0 ? [] : [{ name: 'web', output: noise, tool_call_id: `c${index - 1}` }],
    tool_calls: [{ name: 'web', arguments: {}, tool_call_id: `c${index}` }],
  }));
}

/** Takeout of Gemini: a record for each question, the newest first, among records of other activity. */
export function geminiRecords({ lines }: Talk): readonly object[] {
  const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const records = pairsOf(lines).map(({ asked, answered, at }) => ({
    ...{ header: 'Gemini Apps', title: `Prompted ${asked}`, time: iso(at), products: ['Gemini Apps'] },
    safeHtmlItem: [{ html: `<p>${escaped(answered)}</p>` }],
  }));
  const other = { header: 'Gemini Apps', title: 'Used Gemini Apps', time: iso(1), products: ['Gemini Apps'] };
  return [...records.toReversed(), other];
}

/** A session of aichat, which has no times. */
export const aichatSession = ({ lines, noise = NOISE }: Talk): string =>
  dump({
    model: 'openai:gpt-4o',
    messages: [{ role: 'system', content: noise }, ...lines.map(({ role, text }) => ({ role, content: text }))],
  });

/** A conversation as Markdown, which has no times. */
export const markdownTalk = ({ title, lines }: Talk): string =>
  `# ${title}\n${lines.map(({ role, text }) => `\n## ${role === 'user' ? 'User' : 'Assistant'}\n\n${text}\n`).join('')}`;

function pairsOf(lines: readonly Line[]): readonly { asked: string; answered: string; at: number | null }[] {
  return lines.flatMap(({ role, text, at }, index) => {
    const next = lines[index + 1];
    return role === 'user' ? [{ asked: text, answered: next?.role === 'assistant' ? next.text : '', at }] : [];
  });
}

/** How each source writes conversations, as the content of files by name. */
export const EXPORTS: Readonly<Record<string, (talks: readonly Talk[]) => Readonly<Record<string, Buffer | string>>>> =
  {
    chatgpt: (talks) => ({ 'conversations-000.json': JSON.stringify(talks.map((talk) => chatgptConversation(talk))) }),
    claude: (talks) => ({ 'conversations.json': JSON.stringify(talks.map(claudeConversation)) }),
    gemini: (talks) => ({ 'MyActivity.json': JSON.stringify(talks.flatMap(geminiRecords)) }),
    'claude-code': eachIn('jsonl', (talk) => jsonLines(claudeCodeLines(talk))),
    codex: (talks) => ({
      ...eachIn('jsonl', (talk) => jsonLines(codexLines(talk)))(talks.slice(1)),
      ...eachIn('jsonl.zst', (talk) => zstd(Buffer.from(jsonLines(codexLines(talk)))))(talks.slice(0, 1)),
    }),
    'gemini-cli': eachIn('jsonl', (talk) => jsonLines(geminiCliLines(talk))),
    pi: eachIn('jsonl', (talk) => jsonLines(piLines(talk))),
    llm: (talks) => ({ 'logs.json': JSON.stringify(talks.flatMap(llmRecords)) }),
    'open-webui': (talks) => ({ 'chats.json': JSON.stringify(talks.map(openWebuiChat)) }),
    aichat: eachIn('yaml', aichatSession),
    markdown: eachIn('md', markdownTalk),
  };

function eachIn(extension: string, write: (talk: Talk) => Buffer | string) {
  return (talks: readonly Talk[]): Readonly<Record<string, Buffer | string>> =>
    Object.fromEntries(talks.map((talk) => [`${talk.id}.${extension}`, write(talk)]));
}
