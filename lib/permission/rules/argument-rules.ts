import { posix } from 'node:path';
import { isJsonObject, type JsonObject, type JsonValue } from '../../chat/json.js';
import { pathMatcher } from '../glob/glob.js';
import type { Rule } from './rules.js';

/** Whether an allow rule covers a call with these arguments: the argument it names exists, is a single value, and matches. */
export function covers({ scope }: Rule, args: JsonObject): boolean {
  if (scope.kind !== 'argument') return scope.kind === 'all';
  const text = Object.hasOwn(args, scope.name) ? textOf(args[scope.name]) : null;
  // A path with `..` may lead anywhere.
  return text !== null && !/(?:^|[\\/])\.\.(?:$|[\\/])/.test(text) && matches(scope.text, text);
}

/** Whether an ask or deny rule may cover it: some text in the argument matches, as written or as a path. */
export function mayCover({ scope }: Rule, args: JsonObject): boolean {
  if (scope.kind !== 'argument') return scope.kind === 'all';
  const texts = Object.hasOwn(args, scope.name) ? textsIn(args[scope.name]) : [];
  return texts.some((text) => matches(scope.text, text) || matches(scope.text, posix.normalize(text)));
}

/** Steps of paths, and of anything else that has slashes. */
const matches = (pattern: string, text: string): boolean =>
  pattern === text || (pattern.startsWith('/') === text.startsWith('/') && pathMatcher(pattern)(text));

/** A single value as rules write it; null for anything else. */
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
