import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import type { AttachedFile } from '../common/book-source.js';

/** A file that stands in its export as text or base64; none if it is empty. */
export function heldFile(name: string, bytes: Buffer): readonly AttachedFile[] {
  const read = async function* (): AsyncGenerator<Buffer> {
    yield bytes;
  };
  return bytes.length === 0 ? [] : [{ type: 'attached', name, file: { path: name, size: bytes.length, bytes: read } }];
}

/** A text field; empty when it is absent or something else. */
export const textIn = (object: JsonObject, name: string): string => {
  const value = object[name];
  return typeof value === 'string' ? value : '';
};

/** An object field; an empty one when it is absent or something else. */
export const objectIn = (object: JsonObject, name: string): JsonObject => {
  const value = object[name];
  return isJsonObject(value) ? value : {};
};

/** A list field; an empty one when it is absent or something else. */
export const listIn = (object: JsonObject, name: string): readonly JsonValue[] => {
  const value = object[name];
  return isList(value) ? value : [];
};

/** The objects in a list field. */
export const objectsOf = (object: JsonObject, name: string): readonly JsonObject[] =>
  listIn(object, name).filter(isJsonObject);

/** Whether a value is a list. */
export const isList = (value: JsonValue | undefined): value is readonly JsonValue[] => Array.isArray(value);

/** The texts in a field that holds one text, an object with one as its `text`, or a list of such. */
export function textsIn(value: JsonValue | undefined): readonly string[] {
  const parts = isList(value) ? value : [value];
  return parts
    .flatMap((part) => (isJsonObject(part) ? textIn(part, 'text') : typeof part === 'string' ? part : []))
    .filter((text) => text !== '');
}

/**
 * Whether a text is one element such as `<environment_context>`, as programs put them into the user's place. Names of
 * HTML have no underscore.
 */
export function isNotice(text: string): boolean {
  const [, name = ''] = /^\s*<([a-z_-]{1,50})>/.exec(text) ?? [];
  return name.includes('_') && text.trimEnd().endsWith(`</${name}>`);
}

/**
 * A time as the history has it: from ISO 8601, or from seconds since 1970 or thousandths, millionths or billionths of
 * one, also as a text; empty for anything else.
 */
export function timeOf(value: JsonValue | undefined): string {
  const number = typeof value === 'string' && /^\s*\d{9,20}(?:\.\d{1,9})?\s*$/.test(value) ? Number(value) : value;
  if (typeof number === 'number') return number > 0 ? isoOf(new Date(millisecondsOf(number))) : '';
  // Of other texts Date makes times too: of 'session 5' one in 2001.
  return typeof number === 'string' && /^\s*\d{4}-\d/.test(number) ? isoOf(new Date(number)) : '';
}

function millisecondsOf(time: number): number {
  let milliseconds = time < 1e11 ? time * 1000 : time;
  while (milliseconds >= 1e14) milliseconds /= 1000;
  return Math.round(milliseconds);
}

function isoOf(time: Date): string {
  const text = Number.isNaN(time.getTime()) ? '' : time.toISOString();
  return /^\d{4}-/.test(text) ? text : '';
}
