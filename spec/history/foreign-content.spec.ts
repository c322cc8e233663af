import { rmSync, writeFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { markdownOf, transcriptOf } from '../../lib/chat/transcript.js';
import { HiError } from '../../lib/errors.js';
import * as anthropic from '../../lib/providers/anthropic/anthropic-request.js';
import * as gemini from '../../lib/providers/gemini/gemini-request.js';
import * as ollama from '../../lib/providers/ollama/ollama-request.js';
import * as chat from '../../lib/providers/openai/openai-chat-request.js';
import * as responses from '../../lib/providers/openai/openai-responses-request.js';
import { fileIn, openIn, printed, quickFolder, zstd } from '../support/history.js';
import fc, { cases } from '../support/properties.js';
import { answer, drain, stage } from '../support/session.js';

const AT = '2026-11-22T10:00:00.000Z';
const SHA = 'a'.repeat(64);

/** A history with everything in it that hi writes. */
const VALID = [
  {
    id: 1,
    turn: 1,
    at: AT,
    cwd: '/',
    role: 'user',
    content: [{ type: 'text', text: 'Look at the file.' }],
    skills: { matched: ['git'], active: ['git'], held: [], standing: { git: { uses: 1.5, idle: 0, hand: 'pinned' } } },
  },
  {
    id: 2,
    turn: 1,
    at: AT,
    cwd: '/',
    role: 'assistant',
    provider: 'scripted',
    model: 'm',
    stop_reason: 'tool_calls',
    content: [
      { type: 'thinking', text: 'Hm.', opaque: { signature: 's', item: { id: 'r', type: 'reasoning' } } },
      { type: 'tool_call', call_id: 'c', name: 'read_file', args: { path: 'a' }, opaque: { thoughtSignature: 't' } },
      { type: 'tool_call', call_id: 'd', name: 'read_file', args: {}, invalid_args: '{' },
      { type: 'vendor', opaque: { block: { type: 'redacted_thinking', data: 'x' } } },
    ],
    usage: { input_tokens: 10, output_tokens: 5, cached_tokens: 0, context_tokens: 15 },
  },
  {
    id: 3,
    turn: 1,
    at: AT,
    cwd: '/',
    role: 'tool',
    content: [
      { type: 'tool_result', call_id: 'c', name: 'read_file', result: { content: 'words' } },
      { type: 'tool_result', call_id: 'd', name: 'read_file', error: 'no' },
    ],
  },
  {
    id: 4,
    turn: 1,
    at: AT,
    cwd: '/',
    role: 'assistant',
    model: 'm',
    stop_reason: 'end',
    content: [{ type: 'text', text: 'Read.' }],
  },
  {
    id: 5,
    type: 'compress',
    at: AT,
    content: 'They read.',
    strategy: 'summary',
    source: 'model',
    first_kept: 4,
    messages_compacted: 3,
    messages_kept: 1,
    tokens_before: 20,
    tokens_after: 5,
    state: {
      cut: { turn: 1, id: 4 },
      also: [1],
      open: [],
      pruned: [3],
      size: 5,
      ratios: { m: 1.2 },
      facts: [{ kind: 'fact', text: 'f' }],
      artifacts: { read: ['a'], written: [], commands: 1, images: ['i'] },
      language: 'English',
      prose: 10,
    },
  },
  {
    id: 6,
    turn: 6,
    at: AT,
    cwd: '/',
    role: 'user',
    content: [
      { type: 'text', text: 'And this?' },
      { type: 'image', mime: 'image/png', sha256: SHA, bytes: 10, name: 'i', width: 1 },
    ],
  },
  {
    id: 7,
    turn: 6,
    at: AT,
    cwd: '/',
    role: 'assistant',
    model: 'm',
    stop_reason: 'end',
    content: [{ type: 'text', text: 'Nice.' }],
  },
  { id: 8, type: 'undo', at: AT, turns: [6] },
];

type Path = readonly (string | number)[];

/** Every place in a value. */
function placesIn(value: unknown, at: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  const inside = Object.entries(value).flatMap(([name, inner]) =>
    placesIn(inner, [...at, Array.isArray(value) ? Number(name) : name]),
  );
  return [...(at.length > 0 ? [at] : []), ...inside];
}

/** The value with something else in one place, and nothing there with `undefined`. */
function changed(value: unknown, [name, ...rest]: Path, by: unknown): unknown {
  if (name === undefined) return by;
  if (Array.isArray(value)) return value.map((inner, index) => (index === name ? changed(inner, rest, by) : inner));
  return { ...Object(value), [name]: changed(Object(value)[name], rest, by) };
}

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A data folder whose history holds these elements as another program would write them. */
function folderWith(text: string): string {
  const folder = quickFolder();
  folders.push(folder);
  writeFileSync(fileIn(folder), zstd(Buffer.from(text)));
  return folder;
}

/**
 * Does with a conversation what its owner does: looks at it, asks, compacts it in every way, reads it. What fails must
 * say so.
 */
async function use(folder: string): Promise<void> {
  const history = await openIn(folder);
  const { session, requests, close } = await stage([answer('Fine.')], { history }, 4000);
  const signal = new AbortController().signal;
  await session.status(signal);
  await inWords(async () => await drain(session.send(typed('hello'), signal)));
  for (const strategy of ['summary', 'truncate', 'replace']) {
    await inWords(async () => await drain(session.compact({ focus: null, strategy }, signal)));
  }
  await inWords(async () => await drain(session.send(typed('again'), signal)));
  for await (const entry of history.archive()) for (const write of [transcriptOf, markdownOf]) write(entry);
  for (const request of requests) {
    for (const provider of ['scripted', 'openai']) {
      anthropic.toVendorRequest(request, provider);
      for (const { toVendorMessages } of [gemini, chat, responses]) toVendorMessages(request, provider);
      ollama.toVendorMessages(request, provider, true);
    }
  }
  await history.close();
  await close();
}

const typed = (text: string) => ({ text, texts: [], attachments: [] });

async function inWords(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (!(thrown instanceof HiError)) throw thrown;
  }
}

describe('a history that another program or a later version wrote', () => {
  it('may contain any JSON anywhere: it is used, and stays in the file', async () => {
    const places = placesIn(VALID).filter((place) => place.at(1) !== 'id' && place.length > 1);
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), fc.option(fc.jsonValue(), { nil: undefined }), async (place, by) => {
        const stored = JSON.parse(JSON.stringify(changed(VALID, place, by)));
        const folder = folderWith(JSON.stringify(stored));
        await use(folder);
        const after: unknown[] = JSON.parse(printed(folder));
        expect(after.slice(0, stored.length)).toEqual(
          stored.map((element: object) => expect.objectContaining(element)),
        );
      }),
      { numRuns: cases(30) },
    );
  }, 120_000);

  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  const message = (parts: string, more = ''): string =>
    `{"id":1,"turn":1,"at":"${AT}","cwd":"/","role":"user","stop_reason":"end","content":[${parts}]${more}}`;

  it.each([
    [
      'the arguments of a call',
      message(`{"type":"tool_call","call_id":"c","name":"n","args":{"a":${nested(200_000)}}}`),
    ],
    ['a result', message(`{"type":"tool_result","call_id":"c","name":"n","result":${nested(200_000)}}`)],
    ['what a vendor wants back', message(`{"type":"vendor","opaque":{"a":${nested(200_000)}}}`)],
    ['a field nobody knows', message('{"type":"text","text":"a"}', `,"later":${nested(200_000)}`)],
    [
      'the state of a block',
      `{"id":1,"at":"${AT}","type":"compress","content":"a","state":{"facts":${nested(200_000)}}}`,
    ],
    ['an element of a later version', `{"id":1,"at":"${AT}","type":"poll","answers":${nested(200_000)}}`],
  ])('may be nested 200,000 levels deep in %s', async (_, element) => {
    const folder = folderWith(`[${element}]`);
    await use(folder);
    expect(printed(folder).startsWith(`[${element},`)).toBe(true);
  });

  it.each([
    ['{"type":"hologram","beam":1}', "[a part of type 'hologram', which this version of hi cannot read]"],
    ['{"type":"text"}', '[a text part without text, which this version of hi cannot read]'],
    [
      '{"type":"image","mime":"image/png"}',
      '[an image without its SHA-256 and type, which this version of hi cannot read]',
    ],
    ['7', '[a part that is not an object, which this version of hi cannot read]'],
  ])('describes %s in words to the model and to the reader', async (part, words) => {
    const history = await openIn(folderWith(`[${message(part)}]`));
    expect(history.view(null).messages[0]?.content).toEqual([{ type: 'text', text: words }]);
    expect(history.entries.map((entry) => transcriptOf(entry)).join('')).toContain(words);
    await history.close();
  });

  it('names an element of an unknown kind', async () => {
    const history = await openIn(
      folderWith(`[{"id":1,"at":"${AT}","type":"poll"},{"id":2,"role":"narrator","content":[]}]`),
    );
    expect(history.entries.map((entry) => transcriptOf(entry))).toEqual([
      "── an element of type 'poll', which this version of hi cannot read ──\n",
      "── a message of role 'narrator', which this version of hi cannot read ──\n",
    ]);
    await history.close();
  });
});
