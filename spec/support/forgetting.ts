import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CompressBlock, Entry } from '../../lib/chat/entry.js';
import type { Message, Part } from '../../lib/chat/message.js';
import { asTokens } from '../../lib/chat/request.js';
import { unzstd, zstd } from './history.js';
import type { Home } from './program.js';
import fc from './properties.js';

/** How a message comes to hold the text, or that it does not. */
const WAYS = [
  'no',
  'no',
  'no',
  'no',
  'words',
  'capitals',
  'arguments',
  'result',
  'base64',
  'attachment',
  'name',
] as const;
type Way = (typeof WAYS)[number];

/** One turn of a generated conversation, and what is appended after it. */
export interface Step {
  readonly asked: Way;
  readonly answered: Way;
  readonly next: 'nothing' | 'block' | 'telling block' | 'pin' | 'undo';
}

export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    asked: fc.constantFrom(...WAYS),
    answered: fc.constantFrom(...WAYS),
    next: fc.constantFrom('nothing', 'nothing', 'block', 'telling block', 'pin', 'undo'),
  }),
  { minLength: 1, maxLength: 12 },
);

/** A conversation as it is before, and the ids of what must be left of it as it was. */
export interface Conversation {
  readonly entries: readonly Entry[];
  readonly staying: ReadonlySet<number>;
  readonly attachments: readonly Buffer[];
}

/** The conversation of these steps with that text in it. */
export function conversationOf(taken: readonly Step[], text: string, seed: string): Conversation {
  const entries: Entry[] = [];
  const attachments: Buffer[] = [];
  const gone = new Set<number>();
  const goneMessages: number[] = [];
  const add = (way: Way, role: 'user' | 'assistant', turn: number): void => {
    const id = entries.length + 1;
    const message = { id, turn: role === 'user' ? id : turn, at: atOf(id), cwd: '/', role };
    const content = [
      { type: 'text', text: `${seed} ${id}` } as const,
      ...partsOf(way, text, `${seed}${id}`, attachments),
    ];
    entries.push({ ...message, content, ...(role === 'assistant' && { stop_reason: 'end' as const }) });
    if (way === 'no') return;
    gone.add(id);
    goneMessages.push(id);
  };
  for (const { asked, answered, next } of taken) {
    const turn = entries.length + 1;
    add(asked, 'user', turn);
    add(answered, 'assistant', turn);
    const id = entries.length + 1;
    if (next === 'block' || next === 'telling block') {
      entries.push(blockAt(id, turn, next === 'block' ? 'They talked.' : `They talked of ${text}.`));
      if (next === 'telling block' || goneMessages.some((one) => one < turn)) gone.add(id);
    } else if (next === 'pin') {
      const pinned = entries.find((entry): entry is Message => entry.id === turn && !('type' in entry));
      if (pinned === undefined) continue;
      entries.push({ type: 'pin', id, at: atOf(id), message: pinned });
      if (gone.has(turn)) gone.add(id);
    } else if (next === 'undo') entries.push({ type: 'undo', id, at: atOf(id), turns: [turn] });
  }
  const staying = new Set(entries.map(({ id }) => id).filter((id) => !gone.has(id)));
  return { entries, staying, attachments };
}

function partsOf(way: Way, text: string, unique: string, attachments: Buffer[]): readonly Part[] {
  const call = { call_id: unique, name: 'bash' };
  if (way === 'words') return [{ type: 'text', text: `so, ${text}.` }];
  if (way === 'capitals') return [{ type: 'text', text: text.toUpperCase() }];
  if (way === 'arguments') return [{ type: 'tool_call', ...call, args: { deep: [{ [text]: 1 }] } }];
  if (way === 'result') return [{ type: 'tool_result', ...call, result: JSON.stringify({ found: text }) }];
  if (way === 'base64') return [{ type: 'text', text: Buffer.from(`It is ${text} here`).toString('base64') }];
  if (way === 'no') return [];
  const bytes = Buffer.from(way === 'attachment' ? `${unique} bytes ${text} bytes` : `${unique} bytes`);
  attachments.push(bytes);
  const name = way === 'name' ? `${text}.pdf` : 'a.pdf';
  return [{ type: 'document', mime: 'application/pdf', sha256: hashOf(bytes), bytes: bytes.length, name }];
}

function blockAt(id: number, firstKept: number, content: string): CompressBlock {
  const sizes = { tokens_before: asTokens(10), tokens_after: asTokens(5), messages_compacted: 1, messages_kept: 2 };
  const state = { facts: [{ kind: 'fact', text: content }] };
  return {
    type: 'compress',
    id,
    at: atOf(id),
    content,
    strategy: 'summary',
    source: 'model',
    first_kept: firstKept,
    ...sizes,
    state,
  };
}

/** Writes a conversation, with a copy that was reset, and everything else that hi keeps. */
export function keepAll(home: Home, now: Conversation, reset: Conversation, text: string): void {
  const cache = join(home.folder, 'cache');
  for (const folder of [
    home.data,
    join(home.data, 'attachments'),
    join(home.data, 'recall', 'log'),
    join(cache, 'outputs'),
    join(cache, 'compressions'),
    join(home.data, 'queue'),
    join(home.data, 'imports', 'chatgpt.attachments'),
  ])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  const write = (path: string, content: string | Buffer): void => writeFileSync(path, content, { mode: 0o600 });
  const packed = (entries: readonly Entry[]): Buffer => zstd(Buffer.from(JSON.stringify(entries)));
  write(home.historyFile, packed(now.entries));
  write(join(home.data, 'history.reset.json.zst'), packed(reset.entries));
  write(join(home.data, 'history.damaged-2026-01-01T00-00-00.json.zst'), packed(now.entries).subarray(0, -6));
  write(
    join(home.data, 'history.damaged-2026-01-01T00-00-00-unverified.json.zst'),
    packed([...now.entries, ...reset.entries]),
  );
  for (const bytes of [...now.attachments, ...reset.attachments])
    write(join(home.data, 'attachments', hashOf(bytes)), bytes);
  write(join(home.data, 'recall', 'log', '0-0.seg'), text);
  write(join(home.data, 'input-history.jsonl'), `${JSON.stringify(`tell me of ${text}`)}\n"something else"\n`);
  write(
    join(home.config, 'memory.md'),
    `- keep this\n- never say ${text} <!-- user 2026-11-23T10:00:00Z -->\n- and this\n`,
  );
  const question = JSON.stringify({ at: '', text, texts: [], attachments: [] });
  write(join(home.data, 'queue', '00000000000001-1-0.json'), question);
  // What killed processes leave.
  write(join(home.data, 'queue', '00000000000002-1-0.json.99999999.new'), question);
  write(join(home.data, 'imports', 'claude.json.zst.threads.99999999.new'), text);
  write(join(home.data, 'imports', 'chatgpt.attachments', 'a'.repeat(64)), text);
  write(join(cache, 'debug.log'), JSON.stringify({ body: JSON.stringify({ text }) }));
  write(join(cache, 'outputs', '2026-01-01T00-00-00-000Z-abcdef.stdout'), `line\n${text}\n`);
  write(join(cache, 'outputs', '2026-01-01T00-00-00-000Z-abcdee.stdout'), 'line\n');
  write(join(cache, 'compressions', `${'a'.repeat(64)}.json`), JSON.stringify({ text }));
}

/** The forms of a text that are looked for in files. */
const formsOf = (text: string): readonly string[] => {
  const quoted = JSON.stringify(text).slice(1, -1);
  const twice = JSON.stringify(quoted).slice(1, -1);
  const packed = Buffer.from(`It is ${text} here`).toString('base64');
  return [text, quoted, twice, packed, text.toUpperCase(), JSON.stringify(text.toUpperCase()).slice(1, -1)];
};

/** The files below the home, without what the specs put there, in which the text stands once they are decompressed. */
export function filesWith(home: Home, text: string): readonly string[] {
  const forms = formsOf(text);
  return ['data', 'config', 'cache'].flatMap((part) => {
    const top = join(home.folder, part);
    return readdirSync(top, { recursive: true, withFileTypes: true })
      .filter((found) => found.isFile())
      .map((found) => join(found.parentPath, found.name))
      .filter((path) => {
        const bytes = readFileSync(path);
        const content = (path.endsWith('.zst') ? unzstd(bytes) : null) ?? bytes.toString('utf8');
        return forms.some((form) => content.includes(form));
      });
  });
}

/** The entries of a stored conversation; none without a file. */
export function entriesAt(path: string): readonly Entry[] {
  return JSON.parse(unzstd(readFileSync(path)) ?? '[]');
}

const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const atOf = (id: number): string => new Date(Date.UTC(2026, 0, 1) + id * 60_000).toISOString();
