import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '../../chat/json.js';
import type { Part, Usage } from '../../chat/message.js';
import {
  type AttachedFile,
  type ForeignMessage,
  type Reading,
  type Source,
  type SourceFile,
  Unreadable,
} from '../common/book-source.js';
import { objectsIn } from '../input/objects.js';
import { type Database, openDatabase, SQLITE_MARK } from '../input/sqlite.js';
import { heldFile, listIn, objectIn, objectsOf, textIn, timeOf } from './fields.js';

/**
 * What llm keeps in `logs.db`, and what `llm logs --json -n 0` prints of it: a record for each prompt, with its answer.
 */
export const llm: Source = {
  name: 'llm',
  title: 'llm',
  places: ({ home, env }) =>
    [
      env.LLM_USER_PATH || join(env.XDG_CONFIG_HOME || join(home, '.config'), 'io.datasette.llm'),
      join(home, 'Library', 'Application Support', 'io.datasette.llm'),
    ].map((folder) => join(folder, 'logs.db')),
  recognises: (sample) =>
    sample.form === 'json'
      ? ['prompt', 'response', 'conversation_id'].every((name) => name in sample.first)
      : sample.form === 'sqlite' && GENERATIONS.some((tables) => tables.every((name) => sample.tables.has(name))),
  async *threads(file, reading) {
    for await (const record of (await isDatabase(file)) ? inDatabase(file, reading) : recordsIn(file, reading)) {
      const title = textIn(record, 'conversation_name');
      const messages = messagesOf(record, reading);
      if (messages.length === 0) continue;
      yield { id: textIn(record, 'conversation_id') || textIn(record, 'id'), ...(title !== '' && { title }), messages };
    }
  },
};

/** The tables of before August 2026, and those that llm has used since. */
const GENERATIONS = [
  ['conversations', 'responses'],
  ['threads', 'turns', 'messages', 'parts'],
];

async function* recordsIn(file: SourceFile, reading: Reading): AsyncGenerator<JsonObject> {
  for await (const { value } of objectsIn(file, reading)) yield value;
}

async function isDatabase(file: SourceFile): Promise<boolean> {
  for await (const piece of file.bytes()) return piece.toString('latin1').startsWith(SQLITE_MARK);
  return false;
}

/** The records of `logs.db`, as `llm logs --json` would print them. */
function* inDatabase(file: SourceFile, reading: Reading): Generator<JsonObject> {
  try {
    const database = openDatabase(file);
    try {
      const { tables } = database;
      if (tables.has('responses')) yield* responsesIn(database);
      if (tables.has('turns')) yield* turnsIn(database);
    } finally {
      database.close();
    }
  } catch (thrown) {
    if (!(thrown instanceof Unreadable)) throw thrown;
    const way = "Run 'llm logs --json -n 0 > logs.json', and import that file";
    reading.problem(file, 'the database', `${thrown.message}. ${way}`);
  }
}

function* responsesIn({ tables, rows }: Database): Generator<JsonObject> {
  const named = tables.has('conversations')
    ? '(SELECT name FROM conversations WHERE id = responses.conversation_id)'
    : "''";
  // llm copies them into the newer tables under the same id.
  const old = tables.has('turns') ? 'WHERE id NOT IN (SELECT id FROM turns)' : '';
  const all = rows(`SELECT *, ${named} AS conversation_name FROM responses ${old} ORDER BY datetime_utc, id`);
  const partsOf = (table: string, id: string): readonly JsonObject[] =>
    tables.has(table) ? [...rows(`SELECT * FROM ${table} WHERE response_id = ? ORDER BY id`, id)] : [];
  for (const row of all) {
    const id = textIn(row, 'id');
    const calls = partsOf('tool_calls', id).map((call) => ({ ...call, arguments: parsed(textIn(call, 'arguments')) }));
    yield { ...row, response_json: null, tool_calls: calls, tool_results: partsOf('tool_results', id) };
  }
}

/**
 * A turn has the hashes of two messages, each of which has that of the one before it: the last that was sent, and the
 * last that was answered.
 */
function* turnsIn({ rows }: Database): Generator<JsonObject> {
  const named = '(SELECT name FROM threads WHERE id = turns.thread_id)';
  for (const turn of rows(`SELECT *, ${named} AS conversation_name FROM turns ORDER BY id`)) {
    const sent = textIn(turn, 'parent_message_hash');
    const asked = chainOf(rows, sent, ({ role }) => role !== 'user' && role !== 'tool');
    const answered = chainOf(rows, textIn(turn, 'tip_message_hash'), ({ hash }) => hash === sent);
    const partsOf = (messages: readonly JsonObject[]): readonly JsonObject[] =>
      messages.flatMap(({ hash }) => [
        ...rows('SELECT * FROM parts WHERE message_hash = ? ORDER BY position', `${hash}`),
      ]);
    const [input, output] = [partsOf(asked), partsOf(answered)];
    const { id = '', model = null, datetime_utc = null, input_tokens = null, output_tokens = null } = turn;
    yield {
      ...{ id, model, datetime_utc, input_tokens, output_tokens },
      ...{ conversation_id: turn.thread_id ?? '', conversation_name: turn.conversation_name ?? '' },
      prompt: input.map(wordsIn).join(''),
      response: output.map(wordsIn).join(''),
      tool_results: input.filter(({ type }) => type === 'tool_result').map((part) => parsed(textIn(part, 'payload'))),
      tool_calls: output.filter(({ type }) => type === 'tool_call').map((part) => parsed(textIn(part, 'payload'))),
    };
  }
}

/** The messages from one back to where `isOver`, oldest first. A chain that leads into itself ends there. */
function chainOf(
  rows: Database['rows'],
  from: string,
  isOver: (message: JsonObject) => boolean,
): readonly JsonObject[] {
  const chain: JsonObject[] = [];
  const seen = new Set<string>();
  for (let hash = from; hash !== '' && !seen.has(hash); ) {
    seen.add(hash);
    const [message] = rows('SELECT hash, parent_hash, role FROM messages WHERE hash = ?', hash);
    if (message === undefined || isOver(message)) break;
    chain.push(message);
    hash = textIn(message, 'parent_hash');
  }
  return chain.reverse();
}

/** The text of a part; where it has fragments, which are files, what stands between them. */
function wordsIn(part: JsonObject): string {
  if (part.type !== 'text') return '';
  if (typeof part.text === 'string') return part.text;
  const pieces = objectsOf(parsed(textIn(part, 'payload')), 'text_ref');
  return pieces.map((piece) => textIn(piece, 'literal')).join('');
}

function parsed(json: string): JsonObject {
  try {
    const value: unknown = JSON.parse(json || '{}');
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

function messagesOf(record: JsonObject, reading: Reading): readonly ForeignMessage[] {
  const [id, model] = [textIn(record, 'id') || textIn(record, 'datetime_utc'), textIn(record, 'model')];
  reading.leaveOut('instructions', textIn(record, 'system') === '' ? 0 : 1);
  // It is in UTC, without saying so.
  const time = textIn(record, 'datetime_utc');
  const at = timeOf(/Z|[+-]\d\d:?\d\d$/.test(time) || time === '' ? time : `${time}Z`);
  // Of its own, llm has one time for both; an export of hi knows more.
  const { completed_at: completed } = objectIn(record, 'response_json');
  const usage = usageOf(record);
  const results = objectsOf(record, 'tool_results').map(resultOf);
  const said = [...textPart(record, 'response'), ...objectsOf(record, 'tool_calls').map(callOf)];
  const all: readonly ForeignMessage[] = [
    { id: `${id}/results`, at, role: 'tool', content: results },
    {
      ...{ id: `${id}/prompt`, at, role: 'user' },
      content: [...fragmentsOf(record), ...attachedTo(record, reading), ...textPart(record, 'prompt')],
    },
    {
      ...{ id: `${id}/response`, at: completed === undefined ? at : timeOf(completed), role: 'assistant' },
      ...{ content: said, ...(model !== '' && { model }), ...(usage !== null && { usage }) },
    },
  ];
  return all.filter(({ content }) => content.length > 0);
}

function textPart(record: JsonObject, name: string): readonly Part[] {
  const text = textIn(record, name);
  return text === '' ? [] : [{ type: 'text', text }];
}

const callOf = (call: JsonObject): Part => ({
  type: 'tool_call',
  ...{ call_id: textIn(call, 'tool_call_id'), name: textIn(call, 'name'), args: objectIn(call, 'arguments') },
});

const resultOf = (result: JsonObject): Part => ({
  type: 'tool_result',
  ...{ call_id: textIn(result, 'tool_call_id'), name: textIn(result, 'name'), result: textIn(result, 'output') },
});

/** The files that `llm -f` put before the prompt. */
const fragmentsOf = (record: JsonObject): readonly AttachedFile[] =>
  objectsOf(record, 'prompt_fragments').flatMap((fragment) => {
    const name = listIn(fragment, 'aliases').find((alias) => typeof alias === 'string') ?? 'fragment';
    return heldFile(name, Buffer.from(textIn(fragment, 'content')));
  });

/** The attachments that are beside the record, as in an export of hi. llm itself keeps them elsewhere. */
function attachedTo(record: JsonObject, reading: Reading): readonly AttachedFile[] {
  return objectsOf(record, 'attachments').flatMap((one): readonly AttachedFile[] => {
    const name = textIn(one, 'path').replace(/^.*\//, '');
    const file = name === '' ? null : reading.beside(name);
    if (file !== null) return [{ type: 'attached', file, name }];
    reading.leaveOut('files that the export lacks');
    return [];
  });
}

function usageOf({ input_tokens: input, output_tokens: output }: JsonObject): Usage | null {
  if (typeof input !== 'number' || typeof output !== 'number') return null;
  return { input_tokens: input, output_tokens: output, cached_tokens: 0, context_tokens: input + output };
}
