import {
  type CompressBlock,
  type Entry,
  type Mark,
  type Pins,
  rememberOriginal,
  type UnknownEntry,
} from '../../chat/entry.js';
import { isJsonObject, isTooDeep, type JsonObject, type JsonValue, jsonText, TOO_DEEP } from '../../chat/json.js';
import type {
  Billing,
  DocumentPart,
  ImagePart,
  Imported,
  Message,
  Part,
  RestsOn,
  SkillRecord,
  SkillStanding,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
  Usage,
  VendorPart,
} from '../../chat/message.js';
import { asTokens } from '../../chat/request.js';
import { isSource } from '../../chat/web-source.js';

/**
 * Decodes an element of the history into a valid entry, null for one without an id. Data that this version cannot read
 * becomes a placeholder; the original text is kept with it for later versions.
 */
export function decodeEntry(stored: unknown, textOf: () => string): Entry | null {
  if (!isJsonObject(stored) || !isId(stored.id)) return null;
  const entry = decoded(stored, stored.id);
  const isPlaceholder = 'type' in entry && entry.type === 'unknown';
  return !isPlaceholder && holdsAll(stored, entry) && !isTooDeep(stored) ? entry : rememberOriginal(entry, textOf());
}

function decoded(stored: JsonObject, id: number): Entry {
  if (stored.type === undefined)
    return role(stored.role, stored) === null ? unknown(stored, id) : withFields<Message>(stored, MESSAGE);
  if (stored.type === 'compress' && typeof stored.content === 'string') return withFields<CompressBlock>(stored, BLOCK);
  if (stored.type === 'undo' && Array.isArray(stored.turns)) return withFields<Of<'undo'>>(stored, UNDO);
  if (stored.type === 'redo' && Array.isArray(stored.turns)) return withFields<Of<'redo'>>(stored, REDO);
  if (stored.type === 'pin' && pinned(stored.message, stored) !== null) return withFields<Of<'pin'>>(stored, PIN);
  if (stored.type === 'unpin' && Array.isArray(stored.messages)) return withFields<Of<'unpin'>>(stored, UNPIN);
  if (stored.type === 'forgotten') return withFields<Of<'forgotten'>>(stored, FORGOTTEN);
  return unknown(stored, id);
}

function unknown(stored: JsonObject, id: number): UnknownEntry {
  const { type, role } = stored;
  const what = type === undefined ? `a message of role '${nameOf(role)}'` : `an element of type '${nameOf(type)}'`;
  return { id, at: time(stored.at, stored), type: 'unknown', what: what.slice(0, 80) };
}

/** The name in the file, whatever its type. */
const nameOf = (stored: unknown): string => (typeof stored === 'string' ? stored : jsonText(stored));
const isId = (stored: unknown): stored is number => isCount(stored) && stored > 0;
const id: FieldReader<number> = (stored) => (isId(stored) ? stored : 0);

/** The id of an element up to this one. A later id would hide or move a future message. */
function reference(stored: unknown, whole: JsonObject): number | null {
  return isId(stored) && stored <= id(whole.id, whole) ? stored : null;
}

/** An invalid time is left out, not guessed. */
const time: FieldReader<string> = (stored) =>
  typeof stored === 'string' && /^\d{4}-\d\d-\d\d/.test(stored) ? stored : '';

const ROLES = ['user', 'assistant', 'tool'] as const;
const role = word(ROLES, null);

/** Other programs write a single text as a string. */
const content: FieldReader<readonly Part[]> = (stored) => {
  if (typeof stored === 'string') return [{ type: 'text', text: stored }];
  if (!Array.isArray(stored)) return stored === undefined || stored === null ? [] : [decodePart(stored)];
  return stored.every((part) => decodePart(part) === part) ? stored : stored.map(decodePart);
};

const usage: FieldReader<Usage | undefined> = (stored) =>
  isJsonObject(stored) && COUNTS.every((name) => isCount(stored[name])) ? withFields<Usage>(stored, USAGE) : undefined;

const COUNTS = ['input_tokens', 'output_tokens', 'cached_tokens', 'context_tokens'] as const;
const amount: FieldReader<number | undefined> = (stored) =>
  typeof stored === 'number' && Number.isFinite(stored) && stored >= 0 ? stored : undefined;

const BILLING: JsonFields<Billing> = {
  model: (stored) => (typeof stored === 'string' ? stored : undefined),
  cache_write_tokens: amount,
  cache_write_1h_tokens: amount,
  web_searches: amount,
  cost: amount,
};

const USAGE: JsonFields<Usage> = {
  input_tokens: count(0),
  output_tokens: count(0),
  cached_tokens: count(0),
  context_tokens: count(0),
  billing: (stored) => (isJsonObject(stored) ? withFields<Billing>(stored, BILLING) : undefined),
};

const STOP_REASONS = ['end', 'tool_calls', 'length', 'refusal', 'tool_limit', 'interrupted'] as const;
const stopReason = word(STOP_REASONS, 'end');

// An unknown value counts as `foreign`.
const restsOn: FieldReader<RestsOn | undefined> = (stored) =>
  stored === undefined || stored === null ? undefined : stored === 'own' ? 'own' : 'foreign';

const aside: FieldReader<true | undefined> = (stored) => (stored === true ? true : undefined);
const names: FieldReader<readonly string[] | undefined> = (stored) => list(stored, isText);

const STANDING: JsonFields<SkillStanding> = {
  uses: (stored) => (typeof stored === 'number' ? stored : 0),
  idle: count(0),
  hand: word(['pinned', 'dropped'], undefined),
};

const standing: FieldReader<SkillRecord['standing']> = (stored) => {
  if (!isJsonObject(stored)) return undefined;
  const each: FieldReader<SkillStanding> = (one) => withFields<SkillStanding>(isJsonObject(one) ? one : {}, STANDING);
  const fields = Object.fromEntries(Object.keys(stored).map((name) => [name, each]));
  return withFields<NonNullable<SkillRecord['standing']>>(stored, fields);
};

const SKILLS: JsonFields<SkillRecord> = {
  matched: (stored) => list(stored, isText) ?? [],
  active: (stored) => list(stored, isText) ?? [],
  held: names,
  pinned: names,
  dropped: names,
  standing,
};

const IMPORTED: JsonFields<Imported> = { thread: text(''), id: text(''), title: text(undefined) };
const MESSAGE: JsonFields<Message> = {
  id,
  turn: (stored, whole) => reference(stored, whole) ?? id(whole.id, whole),
  at: time,
  role: word(ROLES, 'user'),
  content,
  cwd: text(''),
  host: text(undefined),
  zone: text(undefined),
  via: word(['script'], undefined),
  tools: word(['none'], undefined),
  model: text(undefined),
  provider: text(undefined),
  origin: text(undefined),
  interrupted_by: word(['error'], undefined),
  api_base: text(undefined),
  server: text(undefined),
  usage,
  // A later version may know more stop reasons.
  stop_reason: (stored, whole) => (stored === undefined || stored === null ? undefined : stopReason(stored, whole)),
  sources: (stored) => list(stored, isSource),
  rests_on: restsOn,
  skills: (stored) => (isJsonObject(stored) ? withFields<SkillRecord>(stored, SKILLS) : undefined),
  imported: (stored) => (isJsonObject(stored) ? withFields<Imported>(stored, IMPORTED) : undefined),
  aside,
  uid: text(undefined),
  from: text(undefined),
};

const BLOCK: JsonFields<CompressBlock> = {
  type: word(['compress'], 'compress'),
  id,
  at: time,
  content: text(''),
  strategy: text('unknown'),
  source: word(['model', 'cache', 'none', 'fallback'], 'model'),
  rests_on: restsOn,
  first_kept: reference,
  messages_compacted: count(0),
  messages_kept: count(0),
  tokens_before: (stored) => asTokens(count(0)(stored, {})),
  tokens_after: (stored) => asTokens(count(0)(stored, {})),
  state: json(undefined),
  usage,
  aside,
  model: text(undefined),
  provider: text(undefined),
  api_base: text(undefined),
  server: text(undefined),
  restores: (stored, whole) => (stored === 0 ? 0 : (reference(stored, whole) ?? undefined)),
  pins: (stored, whole) => (isJsonObject(stored) ? withFields<Pins>(stored, pinsOf(whole)) : undefined),
};

/** A mark of one type. */
type Of<Type extends Mark['type']> = Extract<Mark, { readonly type: Type }>;

const references: FieldReader<readonly number[]> = (stored, whole) =>
  list(stored, (one): one is number => reference(one, whole) !== null) ?? [];

const MARK = { id, at: time, aside, v: count(undefined) };
const UNDO: JsonFields<Of<'undo'>> = { type: word(['undo'], 'undo'), turns: references, ...MARK };
const REDO: JsonFields<Of<'redo'>> = { type: word(['redo'], 'redo'), turns: references, ...MARK };
const UNPIN: JsonFields<Of<'unpin'>> = { type: word(['unpin'], 'unpin'), messages: references, ...MARK };
const FORGOTTEN: JsonFields<Of<'forgotten'>> = {
  type: word(['forgotten'], 'forgotten'),
  ...MARK,
  uid: text(''),
  forgotten_turns: (stored) => list(stored, isText) ?? [],
  forgotten_messages: (stored) => list(stored, isMessageName) ?? [],
};
const isMessageName = (stored: unknown): stored is readonly [string, string, string] =>
  Array.isArray(stored) && stored.length === 3 && stored.every(isText);

const PIN: JsonFields<Of<'pin'>> = {
  type: word(['pin'], 'pin'),
  id,
  at: time,
  message: (stored, whole) => pinned(stored, whole) ?? withFields<Message>({}, MESSAGE),
  aside,
  v: count(undefined),
};

/** The pins of a block. */
const pinsOf = (block: JsonObject): JsonFields<Pins> => ({
  until: (stored) => reference(stored, block) ?? 0,
  messages: (stored) => {
    if (!Array.isArray(stored)) return [];
    const messages = stored.flatMap((one) => pinned(one, block) ?? []);
    return messages.length === stored.length && messages.every((one, at) => one === stored[at]) ? stored : messages;
  },
});

/** A message in a mark or a block; null for anything else, and for a later message. */
function pinned(stored: unknown, whole: JsonObject): Message | null {
  if (!isJsonObject(stored) || role(stored.role, stored) === null || reference(stored.id, whole) === null) return null;
  return withFields<Message>(stored, MESSAGE);
}

/** Decodes a part. One that this version cannot read becomes a placeholder that says so. */
function decodePart(stored: unknown): Part {
  if (!isJsonObject(stored)) return unreadable('a part that is not an object');
  switch (stored.type) {
    case 'text':
      return typeof stored.text === 'string' ? withFields(stored, TEXT) : unreadable('a text part without text');
    case 'thinking':
      return typeof stored.text === 'string'
        ? withFields(stored, THINKING)
        : unreadable('a thinking part without text');
    case 'image':
      return isAttached(stored) ? withFields(stored, IMAGE) : unreadable('an image without its SHA-256 and type');
    case 'document':
      return isAttached(stored) ? withFields(stored, DOCUMENT) : unreadable('a document without its SHA-256 and type');
    case 'tool_call':
      return isCalled(stored) ? withFields(stored, CALL) : unreadable('a tool call without id and name');
    case 'tool_result':
      return isCalled(stored) ? decodeResult(stored) : unreadable('a tool result without id and name');
    case 'vendor':
      return json(null)(stored.opaque, stored) ? withFields(stored, VENDOR) : unreadable('a block without content');
    default:
      return unreadable(
        `a part of type '${(typeof stored.type === 'string' ? stored.type : jsonText(stored.type)).slice(0, 40)}'`,
      );
  }
}

function unreadable(what: string): TextPart {
  return { type: 'text', text: `[${what}, which this version of hi cannot read]` };
}

const isAttached = ({ sha256, mime }: JsonObject): boolean =>
  typeof mime === 'string' && typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256);

const isCalled = ({ call_id, name }: JsonObject): boolean => typeof call_id === 'string' && typeof name === 'string';

/** A result that cannot be read becomes an error that says so. */
function decodeResult(stored: JsonObject): ToolResultPart {
  const { error, result } = stored;
  if ((error ?? null) === null && result !== undefined) return withFields<Ran>(stored, RAN);
  if (result === undefined && typeof error === 'string') return withFields<Failed>(stored, FAILED);
  const { call_id, name } = withFields<Failed>(stored, FAILED);
  const reason = typeof error === 'string' ? error : 'The history does not hold the result in a form that can be read.';
  return { type: 'tool_result', call_id, name, error: reason };
}

/** The placeholder for arguments that cannot be read. */
const invalidArguments: FieldReader<string | undefined> = (stored, { args }) => {
  if (typeof stored === 'string') return stored;
  if (args !== undefined && isTooDeep(args)) return TOO_DEEP;
  return isJsonObject(args) ? undefined : '(not in the history in a form that can be read)';
};

type Ran = Extract<ToolResultPart, { readonly error?: never }>;
type Failed = Extract<ToolResultPart, { readonly result?: never }>;

const opaque = json(undefined);
const NEVER: FieldReader<undefined> = () => undefined;
const ATTACHED = { mime: text(''), sha256: text(''), bytes: count(0), name: text(undefined) };
const CALLED = { call_id: text(''), name: text('') };
const type = <Name extends string>(name: Name): FieldReader<Name> => word([name], name);

const TEXT: JsonFields<TextPart> = {
  type: type('text'),
  text: text(''),
  opaque,
  recalled: (stored) => list(stored, isCount),
  book: text(undefined),
  clock: (stored) => (stored === true ? true : undefined),
};
const THINKING: JsonFields<ThinkingPart> = { type: type('thinking'), text: text(''), opaque };
const IMAGE: JsonFields<ImagePart> = {
  type: type('image'),
  ...ATTACHED,
  width: count(undefined),
  height: count(undefined),
  opaque,
};
const DOCUMENT: JsonFields<DocumentPart> = { type: type('document'), ...ATTACHED };
const CALL: JsonFields<ToolCallPart> = {
  type: type('tool_call'),
  ...CALLED,
  args: json({}),
  invalid_args: invalidArguments,
  opaque,
};
const VENDOR: JsonFields<VendorPart> = { type: type('vendor'), opaque: json({}) };
const RAN: JsonFields<Ran> = {
  type: type('tool_result'),
  ...CALLED,
  result: (stored) => (isJson(stored) && !isTooDeep(stored) ? stored : TOO_DEEP),
  error: NEVER,
};
const FAILED: JsonFields<Failed> = { type: type('tool_result'), ...CALLED, error: text(''), result: NEVER };

/** Always true: the value comes from JSON. */
function isJson(stored: unknown): stored is JsonValue {
  return stored !== undefined;
}

/** Reads a field from its stored value, undefined when it is missing. */
type FieldReader<Value> = (stored: unknown, whole: JsonObject) => Value;

/** The reader of every field of a type. */
type JsonFields<Type> = { readonly [Name in keyof Type]-?: FieldReader<Type[Name]> };

/** A stored object as its type: the object itself if all fields are valid, else a corrected copy. */
function withFields<Type>(stored: JsonObject, fields: JsonFields<Type>): Type {
  let copy: Record<string, unknown> | null = null;
  for (const name in fields) {
    const before = stored[name];
    const after = fields[name](before, stored);
    if (after === before) continue;
    copy ??= { ...stored };
    if (after === undefined) delete copy[name];
    else copy[name] = after;
  }
  // `fields` covers all fields of the type.
  return (copy ?? stored) as Type;
}

/** True if `shown` contains every stored field unchanged. It may have more fields. */
function holdsAll(stored: JsonObject, shown: object): boolean {
  return shown === stored || Object.entries(stored).every(([name, value]) => Reflect.get(shown, name) === value);
}

/** A string, or `other`. */
function text<Other>(other: Other): FieldReader<string | Other> {
  return (stored) => (typeof stored === 'string' ? stored : other);
}

/** One of these words, or `other`. */
function word<const Word extends string, const Other>(words: readonly Word[], other: Other): FieldReader<Word | Other> {
  const known = new Map<unknown, Word>(words.map((each) => [each, each]));
  return (stored) => known.get(stored) ?? other;
}

/** A whole number from 0 up to the limit, or `other`. */
function count<Other>(other: Other): FieldReader<number | Other> {
  return (stored) => (isCount(stored) ? stored : other);
}

/** An object that is not nested too deeply, or `other`. */
function json<Other>(other: Other): FieldReader<JsonObject | Other> {
  return (stored) => (isJsonObject(stored) && !isTooDeep(stored) ? stored : other);
}

/** The valid elements of a list: the list itself if all are valid. */
function list<Item>(stored: unknown, is: (item: unknown) => item is Item): readonly Item[] | undefined {
  if (!Array.isArray(stored)) return undefined;
  return stored.every(is) ? stored : stored.filter(is);
}

const isText = (stored: unknown): stored is string => typeof stored === 'string';

/** True for a whole number with room for larger ones. */
const isCount = (stored: unknown): stored is number =>
  typeof stored === 'number' && Number.isInteger(stored) && stored >= 0 && stored <= COUNT_LIMIT;

/** No conversation has this many messages, and larger numbers soon lose precision. */
const COUNT_LIMIT = 2 ** 52;
