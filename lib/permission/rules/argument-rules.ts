import { posix } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import { pathMatcher } from '../glob/glob.js';
import type { Rule } from './rules.js';

/** Whether a rule that allows is about a call with these arguments: the one it names is there, is one value, and matches. */
export function covers({ scope }: Rule, args: JsonObject): boolean {
  if (scope.kind !== 'argument') return scope.kind === 'all';
  const text = Object.hasOwn(args, scope.name) ? textOf(args[scope.name]) : null;
  // What leads out of a folder again may lead anywhere.
  return text !== null && !/(?:^|[\\/])\.\.(?:$|[\\/])/.test(text) && matches(scope.text, text);
}

/** Whether a rule that asks or denies may be about it: some text in the argument matches, as it is written or as a path that leads there. */
export function mayCover({ scope }: Rule, args: JsonObject): boolean {
  if (scope.kind !== 'argument') return scope.kind === 'all';
  const texts = Object.hasOwn(args, scope.name) ? textsIn(args[scope.name]) : [];
  return texts.some((text) => matches(scope.text, text) || matches(scope.text, posix.normalize(text)));
}

/** Steps of paths, and of anything else that has slashes. */
const matches = (pattern: string, text: string): boolean =>
  pattern === text || (pattern.startsWith('/') === text.startsWith('/') && pathMatcher(pattern)(text));

/** One value as rules write it; null for several. */
function textOf(value: JsonValue | undefined): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

function textsIn(value: JsonValue | undefined): readonly string[] {
  const text = textOf(value);
  if (text !== null) return [text];
  if (typeof value !== 'object' || value === null) return [];
  return (isJsonObject(value) ? Object.values(value) : value).flatMap(textsIn);
}
