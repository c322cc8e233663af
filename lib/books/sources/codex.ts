import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import type { Part, Usage } from '../../chat/message.js';
import type { ForeignMessage, Source } from '../common/book-source.js';
import { objectsIn } from '../input/objects.js';
import { isNotice, objectIn, objectsOf, textIn, timeOf } from './fields.js';

/**
 * The sessions of codex, `~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl`, older ones compressed as `.zst`, archived
 * ones in `archived_sessions`. What is sent as the user's is not always theirs: instructions and facts about the folder
 * are among it. What they typed is reported by events, where there are any.
 */
export const codex: Source = {
  name: 'codex',
  title: 'codex',
  places: ({ home, env }) => {
    const root = env.CODEX_HOME || join(home, '.codex');
    return [join(root, 'sessions'), join(root, 'archived_sessions')];
  },
  recognises: (sample) =>
    sample.form === 'json' &&
    typeof sample.first.timestamp === 'string' &&
    (isJsonObject(sample.first.payload) || ('id' in sample.first && 'instructions' in sample.first)),
  async *threads(file, reading) {
    const rollout = new Rollout();
    for await (const { value } of objectsIn(file, reading)) rollout.add(value);
    const { id, messages } = rollout;
    reading.leaveOut('instructions and facts in the place of the user', rollout.leftOut);
    if (messages.length > 0)
      yield { id: id || file.path.replace(/^.*\//, '').replace(/\.jsonl(?:\.zst)?$/, ''), messages };
  },
};

/** What a line says: by an event, or as it was sent to the model. */
interface Said {
  readonly by: 'event' | 'item';
  readonly message: ForeignMessage;
}

/** A session while it is read. */
class Rollout {
  id = '';
  #cwd = '';
  #model = '';
  /** Whether the words of the user in it are those of another model. */
  #isOfModel = false;
  #line = 0;
  #counted: Usage | null = null;
  readonly #said: Said[] = [];

  add(line: JsonObject): void {
    this.#line += 1;
    const kind = textIn(line, 'type');
    // The first sessions had no envelope.
    const payload = isJsonObject(line.payload) ? line.payload : line;
    const at = timeOf(line.timestamp);
    if (kind === 'session_meta' || (this.#line === 1 && 'instructions' in line)) this.#begin(payload);
    else if (kind === 'turn_context') this.#model = textIn(payload, 'model') || this.#model;
    else if (kind === 'event_msg') this.#event(payload, at);
    else this.#item(payload, at);
  }

  get #users(): readonly Said[] {
    return this.#said.filter(({ message: { role } }) => role === 'user');
  }

  /** How much stood in the place of the user that events do not report. */
  get leftOut(): number {
    return this.#users.length - this.#typed.size;
  }

  /** The messages, each once. */
  get messages(): readonly ForeignMessage[] {
    const typed = this.#typed;
    const hasAnswers = this.#said.some(({ by, message: { role } }) => by === 'item' && role === 'assistant');
    return this.#said.flatMap(({ by, message }): readonly ForeignMessage[] => {
      if (message.role === 'assistant' && by === 'event') return hasAnswers ? [] : [message];
      if (message.role !== 'user') return [message];
      if (!typed.has(message.id)) return [];
      return this.#isOfModel ? [{ ...message, role: 'assistant', rests_on: 'foreign' }] : [message];
    });
  }

  /** The ids of what the user typed. */
  get #typed(): ReadonlySet<string> {
    const events = this.#users.filter(({ by }) => by === 'event');
    const chosen = events.length > 0 ? events : this.#users.filter(({ message }) => !isAdded(message));
    return new Set(chosen.map(({ message: { id } }) => id));
  }

  #begin(payload: JsonObject): void {
    this.id ||= textIn(payload, 'id');
    this.#cwd ||= textIn(payload, 'cwd');
    this.#isOfModel ||= isJsonObject(payload.source);
  }

  #event(payload: JsonObject, at: string): void {
    if (textIn(payload, 'type') === 'token_count') this.#count(objectIn(payload, 'info'));
    const item = objectIn(payload, 'item');
    const kind = (textIn(item, 'type') || textIn(payload, 'type')).replaceAll('_', '').toLowerCase();
    const text =
      textIn(payload, 'message') ||
      textIn(item, 'message') ||
      textIn(item, 'text') ||
      joinedTexts(objectsOf(item, 'content'));
    // Early versions reported what they added themselves as well, and said so.
    const isOwn = payload.kind !== undefined && payload.kind !== null && payload.kind !== 'plain';
    if (text === '' || isOwn) return;
    if (kind === 'usermessage') this.#say('event', 'user', at, [{ type: 'text', text: requestIn(text) }]);
    if (kind === 'agentmessage') this.#say('event', 'assistant', at, [{ type: 'text', text }]);
  }

  /** The sum of the session so far, which codex may repeat: what is new in it belongs to the newest answer. */
  #count(info: JsonObject): void {
    const sums = usageOf(objectIn(info, 'total_token_usage'));
    const place = this.#said.findLastIndex(({ by, message: { role } }) => by === 'item' && role === 'assistant');
    const said = this.#said[place];
    const fresh = sums && differenceOf(sums, this.#counted);
    if (fresh === null || said === undefined || fresh.context_tokens <= 0) return;
    this.#counted = sums;
    const model = this.#model === '' ? {} : { model: this.#model };
    this.#said[place] = { ...said, message: { ...said.message, ...model, usage: sumOf(said.message.usage, fresh) } };
  }

  #item(payload: JsonObject, at: string): void {
    const kind = textIn(payload, 'type');
    const call = {
      call_id: textIn(payload, 'call_id') || textIn(payload, 'id'),
      name: textIn(payload, 'name') || 'shell',
    };
    if (kind === 'message') {
      const [role, text] = [textIn(payload, 'role'), joinedTexts(objectsOf(payload, 'content'))];
      if (text !== '' && (role === 'user' || role === 'assistant'))
        this.#say('item', role, at, [{ type: 'text', text: role === 'user' ? requestIn(text) : text }]);
    } else if (kind === 'reasoning') {
      const text = joinedTexts([...objectsOf(payload, 'summary'), ...objectsOf(payload, 'content')]);
      if (text !== '') this.#say('item', 'assistant', at, [{ type: 'thinking', text }]);
    } else if (/_call$/.test(kind)) {
      const input = textIn(payload, 'arguments') || textIn(payload, 'input') || JSON.stringify(payload.action ?? {});
      this.#say('item', 'assistant', at, [{ type: 'tool_call', ...call, args: argumentsIn(input) }]);
    } else if (/_output$/.test(kind)) {
      const output = objectIn(payload, 'output');
      const result =
        textIn(payload, 'output') || textIn(output, 'content') || joinedTexts(objectsOf(payload, 'output'));
      this.#say('item', 'tool', at, [{ type: 'tool_result', ...call, result }]);
    }
  }

  #say(by: Said['by'], role: ForeignMessage['role'], at: string, content: readonly Part[]): void {
    const isSpoken = role === 'assistant' && content.some(({ type }) => type === 'text');
    const message: ForeignMessage = {
      ...{ id: String(this.#line), role, at, content },
      ...(this.#cwd !== '' && { cwd: this.#cwd }),
      ...(isSpoken && this.#model !== '' && { model: this.#model }),
    };
    this.#said.push({ by, message });
  }
}

function usageOf(sums: JsonObject): Usage | null {
  const count = (name: string): number => (typeof sums[name] === 'number' && sums[name] >= 0 ? sums[name] : 0);
  const [input, output] = [count('input_tokens'), count('output_tokens')];
  if (input + output === 0) return null;
  const cached = count('cached_input_tokens');
  return { input_tokens: input, output_tokens: output, cached_tokens: cached, context_tokens: input + output };
}

/** `sign` times the second added to the first. */
const sumOf = (one: Usage | null = null, other: Usage | null = null, sign = 1): Usage => ({
  input_tokens: (one?.input_tokens ?? 0) + sign * (other?.input_tokens ?? 0),
  output_tokens: (one?.output_tokens ?? 0) + sign * (other?.output_tokens ?? 0),
  cached_tokens: (one?.cached_tokens ?? 0) + sign * (other?.cached_tokens ?? 0),
  context_tokens: (one?.context_tokens ?? 0) + sign * (other?.context_tokens ?? 0),
});

const differenceOf = (one: Usage, other: Usage | null): Usage => sumOf(one, other, -1);

/** Whether codex put a text into the user's place: it is an element, or begins with the heading of instructions. */
const isAdded = ({ content: [part] }: ForeignMessage): boolean =>
  part?.type === 'text' && (isNotice(part.text) || /^\s*# AGENTS\.md instructions/.test(part.text));

/** The heading below which editors put what was typed, behind what they know of open files. */
const REQUEST = '## My request for Codex:\n';

/** What the user typed of a text, as codex itself finds it: https://github.com/openai/codex, `USER_MESSAGE_BEGIN`. */
function requestIn(text: string): string {
  const place = text.startsWith('# ') ? text.indexOf(`\n${REQUEST}`) : -1;
  return place < 0 ? text : text.slice(place + REQUEST.length + 1).trim();
}

const joinedTexts = (parts: readonly JsonObject[]): string =>
  parts
    .map((part) => textIn(part, 'text'))
    .filter((text) => text !== '')
    .join('\n\n');

function argumentsIn(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : { input: text };
  } catch {
    return { input: text };
  }
}
