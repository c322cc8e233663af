import { isJsonObject, isTooDeep, type JsonObject, type JsonValue, jsonText, TOO_DEEP } from '../../../chat/json.js';
import type {
  DocumentPart,
  ImagePart,
  Part,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  ToolResultPart,
  VendorPart,
} from '../../../chat/message.js';
import {
  count,
  type FieldReader,
  isCount,
  type JsonFields,
  json,
  list,
  text,
  withFields,
  word,
} from './read-fields.js';

/** Decodes a part. One that this version cannot read becomes a placeholder that says so. */
export function decodePart(stored: unknown): Part {
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
