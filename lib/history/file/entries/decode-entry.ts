import {
  type CompressBlock,
  type Entry,
  type Mark,
  type Pins,
  rememberOriginal,
  type UnknownEntry,
} from '../../../chat/entry.js';
import { isJsonObject, isTooDeep, type JsonObject, jsonText } from '../../../chat/json.js';
import {
  type Billing,
  isSource,
  type Message,
  type Part,
  type RestsOn,
  type SkillRecord,
  type SkillStanding,
  type Usage,
} from '../../../chat/message.js';
import { asTokens } from '../../../chat/request.js';
import { decodePart } from './decode-part.js';
import {
  count,
  type FieldReader,
  holdsAll,
  isCount,
  isText,
  type JsonFields,
  json,
  list,
  text,
  withFields,
  word,
} from './read-fields.js';

/**
 * Decodes an element of the history into a valid entry, null for one without an id. Data that this version cannot read becomes a placeholder;
 * the original text is kept with it for later versions.
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
  usage,
  // A later version may know more stop reasons.
  stop_reason: (stored, whole) => (stored === undefined || stored === null ? undefined : stopReason(stored, whole)),
  sources: (stored) => list(stored, isSource),
  rests_on: restsOn,
  skills: (stored) => (isJsonObject(stored) ? withFields<SkillRecord>(stored, SKILLS) : undefined),
  aside,
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
  restores: (stored, whole) => (stored === 0 ? 0 : (reference(stored, whole) ?? undefined)),
  pins: (stored, whole) => (isJsonObject(stored) ? withFields<Pins>(stored, pinsOf(whole)) : undefined),
};

/** A mark of one type. */
type Of<Type extends Mark['type']> = Extract<Mark, { readonly type: Type }>;

const references: FieldReader<readonly number[]> = (stored, whole) =>
  list(stored, (one): one is number => reference(one, whole) !== null) ?? [];

const UNDO: JsonFields<Of<'undo'>> = { type: word(['undo'], 'undo'), id, at: time, turns: references, aside };

const REDO: JsonFields<Of<'redo'>> = { type: word(['redo'], 'redo'), id, at: time, turns: references, aside };

const UNPIN: JsonFields<Of<'unpin'>> = { type: word(['unpin'], 'unpin'), id, at: time, messages: references, aside };

const PIN: JsonFields<Of<'pin'>> = {
  type: word(['pin'], 'pin'),
  id,
  at: time,
  message: (stored, whole) => pinned(stored, whole) ?? withFields<Message>({}, MESSAGE),
  aside,
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
