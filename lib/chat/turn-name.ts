import { createHash, randomBytes } from 'node:crypto';
import type { NewMessage } from './message.js';
import { spokenParts } from './message.js';

/** A name that no other turn has, on any machine: 64 random bits. */
export function newUid(): string {
  return randomBytes(8).toString('base64url');
}

/** 64 bits as base64url; the last character has two bits to spare, which are 0. */
const NAME = /^[\w-]{10}[AEIMQUYcgkosw048]$/;

/** Whether a text has the form of a turn's name. */
export function isTurnName(text: unknown): text is string {
  return typeof text === 'string' && NAME.test(text);
}

/**
 * The name of the turn whose first message this is, the same on every machine: its `uid`, or 64 bits of a hash of when
 * it was said, by whom, and the parts that hi did not add, for turns of versions that wrote none.
 */
export function turnName({ uid, at, role, content }: NewMessage & { readonly at: string }): string {
  if (isTurnName(uid)) return uid;
  const said = JSON.stringify([at, role, spokenParts(content)], sortedKeys);
  return createHash('sha256').update(said).digest().subarray(0, 8).toString('base64url');
}

/** Programs that write JSON do not agree on the order of fields. */
function sortedKeys(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}
