import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from '@jest/globals';
import { timeOf } from '../../lib/books/sources/fields.js';
import { Shelf } from '../support/books.js';
import { jsonLines } from '../support/exports.js';

/** Files by their names, and what was said in them, without what tools and programs said. */
type Quirk = readonly [source: string, files: Readonly<Record<string, Buffer | string>>, said: readonly string[]];

const AT = '2025-03-03T10:00:00.000Z';

/** A text as Windows writes it. */
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`.replaceAll('\n', '\r\n'), 'utf16le');

const claudeLine = (more: object): object => ({
  sessionId: 's',
  cwd: '/w',
  timestamp: AT,
  isSidechain: false,
  ...more,
});
const typed = (content: unknown, more: object = {}): object =>
  claudeLine({ type: 'user', message: { role: 'user', content }, ...more });
const queued = (prompt: string, commandMode: string): object =>
  claudeLine({ type: 'attachment', uuid: prompt, attachment: { type: 'queued_command', prompt, commandMode } });

const event = (payload: object): object => ({ timestamp: AT, type: 'event_msg', payload });
const item = (role: string, text: string): object => ({
  ...{ timestamp: AT, type: 'response_item' },
  payload: { type: 'message', role, content: [{ text }] },
});

const gemini = (id: string, type: string, content: unknown, more: object = {}): object => ({
  ...{ id, type, content, timestamp: AT },
  ...more,
});

const RULES = '<file name="rules">\nI allow it\n</file>';

const QUIRKS: Readonly<Record<string, Quirk>> = {
  'ChatGPT: two messages with one id, a part of a new kind, custom instructions as a message, times as texts': [
    'chatgpt',
    {
      'x.json': utf16(
        JSON.stringify([
          {
            conversation_id: 'c',
            mapping: {
              i: {
                message: {
                  author: { role: 'user' },
                  content: { parts: ['be brief'] },
                  metadata: { is_user_system_message: true },
                },
              },
              q: {
                parent: 'i',
                message: {
                  id: 'm',
                  author: { role: 'user' },
                  create_time: '1740996000.5',
                  content: { parts: [null, 'one'] },
                },
              },
              a: {
                parent: 'q',
                message: { id: 'm', author: { role: 'assistant' }, content: { content_type: 'widget', text: 'two' } },
              },
            },
          },
        ]),
      ),
    },
    ['user: one', 'assistant: two'],
  ],
  'Claude: no ids, content that is null, parts of a new kind, the same words twice': [
    'claude',
    {
      'x.json': JSON.stringify([
        {
          uuid: 'c',
          chat_messages: [
            { sender: 'human', text: 'yes', content: null },
            { sender: 'assistant', content: [{ type: 'voice_note', text: 'spoken' }] },
            { sender: 'human', text: 'yes' },
          ],
        },
      ]),
    },
    ['user: yes', 'assistant: spoken', 'user: yes'],
  ],
  'Claude Code: a damaged first line, context of an editor, what was typed meanwhile, arguments with "<"': [
    'claude-code',
    {
      's.jsonl': `{"type":"us\n${jsonLines([
        { type: 'last-prompt', sessionId: 's' },
        typed([{ text: '<ide_opened_file>The user opened x</ide_opened_file>' }, { text: 'one' }], { uuid: '1' }),
        queued('and two', 'prompt'),
        queued('<task-notification>x</task-notification>', 'task-notification'),
        typed('<command-name>/do</command-name>\n<command-args>if a < b</command-args>', { uuid: '2' }),
        typed('<bash-input>cat < x</bash-input>', { uuid: '3' }),
        typed('one'),
        typed('one'),
      ])}`,
      'logs.json': JSON.stringify([{ sessionId: 's', messageId: 0, type: 'user', message: 'of another program' }]),
    },
    ['user: one', 'user: and two', 'user: /do if a < b', 'user: !cat < x', 'user: one', 'user: one'],
  ],
  'codex: context of an editor, events of what was added, sessions without events': [
    'codex',
    {
      'a.jsonl': jsonLines([
        { timestamp: AT, type: 'session_meta', payload: { id: 'a' } },
        event({ type: 'user_message', message: '<user_instructions>x</user_instructions>', kind: 'user_instructions' }),
        event({ type: 'user_message', message: '# Context from my IDE setup:\n\n## My request for Codex:\none\n' }),
        { timestamp: AT, type: 'compacted', payload: { message: 'x', replacement_history: [] } },
      ]),
      'b.jsonl': jsonLines([
        { timestamp: AT, type: 'session_meta', payload: { id: 'b' } },
        item('user', '<environment_context>x</environment_context>'),
        item('user', '<div>two</div>'),
      ]),
    },
    ['user: one', 'user: <div>two</div>'],
  ],
  'Gemini CLI: texts in lists, files beside what was typed, thoughts in an answer, summaries for the model': [
    'gemini-cli',
    {
      's.jsonl': jsonLines([
        { sessionId: 's', projectHash: 'p' },
        { $set: { messages: [gemini('x', 'user', [{ text: '<session_context>x</session_context>' }])] } },
        gemini('1', 'user', ['one', { text: '<hook_context>x</hook_context>' }]),
        gemini('2', 'gemini', [{ text: 'hm', thought: true }, { text: 'two' }]),
        gemini('3', 'user', [{ text: '@x' }, { text: 'all of x' }], { displayContent: [{ text: '@x' }] }),
        { $set: { messages: [gemini('y', 'user', '<state_snapshot>x</state_snapshot>'), gemini('z', 'user', '@x')] } },
      ]),
    },
    ['user: one', 'assistant: two', 'user: @x'],
  ],
  'pi: a command that the user ran': [
    'pi',
    {
      's.jsonl': jsonLines([
        { type: 'session', id: 's', cwd: '/' },
        { type: 'message', timestamp: AT, message: { role: 'bashExecution', command: 'ls', output: 'x' } },
      ]),
    },
    ['user: !ls'],
  ],
  'Open WebUI: chats without their wrapper, and as lists': [
    'open-webui',
    {
      'x.json': JSON.stringify([
        { history: { messages: { q: { role: 'user', content: [{ text: 'one' }] } } } },
        {
          id: 'b',
          chat: {
            messages: [
              { role: 'user', content: 'two' },
              { role: 'user', content: 'two' },
            ],
          },
        },
      ]),
    },
    ['user: one', 'user: two', 'user: two'],
  ],
  'aichat: numbers and dates as text, calls of tools, files of one name, a log with lines of dashes': [
    'aichat',
    {
      'a/s.yaml': utf16(
        'model: m\nmessages:\n- content: 2025-03-03\n  role: "user"\n- role: assistant\n  content: 0o7\n',
      ),
      'b/s.yaml':
        'model: m\nmessages:\n- role: user\n  content: 2025-03-03\n- role: assistant\n  content: {text: I look, tool_results: [{output: x}]}\n',
      'messages.md': `# CHAT: s [${AT}]\nwhy?\n--------\na\n--------\nb\n# CHAT: no entry\n--------\n\n`,
    },
    [
      'user: 2025-03-03',
      'assistant: 0o7',
      'user: 2025-03-03',
      'assistant: I look',
      'user: why?',
      'assistant: a\n--------\nb\n# CHAT: no entry',
    ],
  ],
  'Markdown: headings of an answer, code in code, files of one name': [
    'markdown',
    {
      'a/t.md':
        '# Claude 3\n## User\na\n````\n```js\n## User\n```\n````\n## Assistant\n### User\n## User stories\n## Answer 2\n```\n## User\n```js\n## User\n```',
      'b/t.md': utf16('### You said:\na\n### ChatGPT said:\n```b```\n### You said:\na\n'),
    },
    [
      'user: a\n````\n```js\n## User\n```\n````',
      'assistant: ### User\n## User stories\n## Answer 2\n```\n## User\n```js\n## User\n```',
      ...['user: a', 'assistant: ```b```', 'user: a'],
    ],
  ],
  'llm: a file before a prompt is no word of the user, and records without ids or a conversation': [
    'llm',
    {
      'x.json': JSON.stringify(
        ['one', 'two'].map((prompt, index) => ({
          ...{ prompt, response: null, conversation_id: null, datetime_utc: `2025-03-03 10:00:0${index}` },
          prompt_fragments: [{ content: 'I allow it', aliases: ['rules'] }],
        })),
      ),
    },
    [`user: ${RULES}one`, `user: ${RULES}two`],
  ],
  'Gemini: code keeps its lines': [
    'gemini',
    {
      'x.json': JSON.stringify([
        {
          header: 'Gemini',
          time: AT,
          title: 'Prompted\u00a0why?',
          safeHtmlItem: [{ html: '<p>so:\n yes</p><pre>a\n  b</pre><p>c</p>' }],
        },
      ]),
    },
    ['user: why?', 'assistant: so: yes\na\n  b\nc'],
  ],
};

it.each(Object.entries(QUIRKS))('every word is there once, and the user said no other: %s', async (_title, quirk) => {
  const [source, files, said] = quirk;
  const shelf = new Shelf();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(shelf.folder, 'export', name)), { recursive: true });
    writeFileSync(join(shelf.folder, 'export', name), content);
  }
  expect(await shelf.import('export')).toMatchObject([{ name: source }]);
  expect(shelf.lines(source).filter((line) => !line.startsWith('tool: '))).toEqual(said);
  expect(await shelf.import('export')).toMatchObject([{ added: 0, changed: 0 }]);
  shelf.remove();
});

it('YAML whose aliases would fill the memory is not read', async () => {
  const shelf = new Shelf();
  const lists = Array.from({ length: 12 }, (_, at) => `  l${at}: &l${at} [${Array(9).fill(at ? `*l${at - 1}` : 'x')}]`);
  const messages = `messages:\n- role: user\n  content: *l11\n- role: user\n  content: hi\n`;
  writeFileSync(join(shelf.folder, 's.yaml'), `model: m\nlists:\n${lists.join('\n')}\n${messages}`);
  expect(await shelf.import('s.yaml')).toMatchObject([{ name: 'aichat', messages: 0, unread: 1 }]);
  shelf.remove();
});

it.each([1740996000, 1740996000000, 1740996000000000, '1740996000', '2025-03-03 11:00:00+01:00', AT])(
  'a time is read from %s',
  (time) => {
    expect(timeOf(time)).toBe(AT);
  },
);

it.each([null, 0, -1, '', 'session 5', '5', '20250303', [AT]])('no time is made of %j', (time) => {
  expect(timeOf(time)).toBe('');
});
