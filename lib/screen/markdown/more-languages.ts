import type { StreamParser, StringStream } from '@codemirror/streamparser';

/** The syntax of a language, as far as highlighting needs it. */
interface Shape {
  readonly keywords: string;
  readonly types?: string;
  readonly atoms?: string;
  /** Starts a comment that extends to the end of the line. */
  readonly lineComment: RegExp;
  /** Tokens that can span lines. The first match counts. */
  readonly blocks?: readonly (readonly [start: string, end: string, tag: Tag])[];
  /** Other tokens, with their tags. */
  readonly tokens?: readonly (readonly [RegExp, Tag])[];
  readonly word?: RegExp;
}

type Tag = 'keyword' | 'typeName' | 'atom' | 'string' | 'comment' | 'number' | 'builtin' | 'meta' | 'def';

/** A token left open by earlier lines, and what ends it. */
interface State {
  end: string | null;
  tag: Tag;
}

const NUMBER = /^(?:0[xX][\da-fA-F_]+|0[bo][\d_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)/;
const C_COMMENT = ['/*', '*/', 'comment'] as const;
const DOUBLE = ['"', '"', 'string'] as const;
const SINGLE = ["'", "'", 'string'] as const;

export const php = language({
  keywords:
    'abstract and as break case catch class clone const continue declare default do echo else elseif empty enum extends final finally fn for foreach function global goto if implements include include_once instanceof insteadof interface isset list match namespace new or print private protected public readonly require require_once return static switch throw trait try unset use var while xor yield',
  types: 'array bool callable float int iterable mixed never object string void self parent',
  atoms: 'true false null TRUE FALSE NULL __CLASS__ __DIR__ __FILE__ __FUNCTION__ __LINE__ __METHOD__ __NAMESPACE__',
  lineComment: /^(?:\/\/|#(?!\[))/,
  blocks: [C_COMMENT, DOUBLE, SINGLE],
  tokens: [
    [/^(?:<\?(?:php|=)?|\?>)/, 'meta'],
    [/^\$\w+/, 'builtin'],
  ],
});

export const elixir = language({
  keywords:
    'after alias and case catch cond def defdelegate defexception defguard defguardp defimpl defmacro defmacrop defmodule defoverridable defp defprotocol defstruct do else end fn for if import in not or quote raise receive require rescue super throw try unless unquote use when with',
  atoms: 'true false nil',
  lineComment: /^#/,
  blocks: [['"""', '"""', 'string'], ["'''", "'''", 'string'], DOUBLE, SINGLE],
  tokens: [
    [/^:(?:"[^"]*"|[a-zA-Z_]\w*[?!]?)/, 'atom'],
    [/^[a-z_]\w*[?!]?:(?!:)/, 'atom'],
    [/^@[a-z_]\w*/, 'builtin'],
    [/^[A-Z]\w*/, 'typeName'],
    [/^\?\\?[^\s]/, 'string'],
  ],
  word: /^[a-z_]\w*[?!]?/,
});

export const makefile = language({
  keywords: 'define else endef endif export ifdef ifeq ifndef ifneq include override sinclude unexport vpath',
  lineComment: /^#/,
  tokens: [
    [/^\$(?:\([^()]*\)|\{[^{}]*\}|.)/, 'builtin'],
    [/^\.[A-Z_]+\b/, 'keyword'],
    [/^[\w.%/-]+(?=\s{0,9}::?(?!=))/, 'def'],
    [/^[\w.-]+(?=\s{0,9}(?:[:+?!]?=|::=))/, 'def'],
  ],
  word: /^[\w.%/-]+/,
});

export const hcl = language({
  keywords:
    'resource data variable output module provider terraform locals moved import check backend required_providers dynamic for in if',
  types: 'string number bool list map set object tuple any',
  atoms: 'true false null',
  lineComment: /^(?:#|\/\/)/,
  blocks: [C_COMMENT, DOUBLE],
  tokens: [[/^[A-Za-z_][\w-]*(?=\s{0,40}=(?!=))/, 'builtin']],
  word: /^[A-Za-z_][\w-]*/,
});

export const zig = language({
  keywords:
    'addrspace align allowzero and anyframe anytype asm async await break callconv catch comptime const continue defer else enum errdefer error export extern fn for if inline linksection noalias noinline nosuspend opaque or orelse packed pub resume return struct suspend switch test threadlocal try union unreachable usingnamespace var volatile while',
  types:
    'anyerror anyopaque bool comptime_float comptime_int f16 f32 f64 f80 f128 i8 i16 i32 i64 i128 isize noreturn type u8 u16 u32 u64 u128 usize void',
  atoms: 'true false null undefined',
  lineComment: /^\/\//,
  blocks: [DOUBLE, SINGLE],
  tokens: [
    [/^\\\\.*/, 'string'],
    [/^@\w+/, 'builtin'],
  ],
});

export const graphql = language({
  keywords:
    'directive enum extend fragment implements input interface mutation on query repeatable scalar schema subscription type union',
  types: 'Boolean Float ID Int String',
  atoms: 'true false null',
  lineComment: /^#/,
  blocks: [['"""', '"""', 'string'], DOUBLE],
  tokens: [[/^[$@]\w+/, 'builtin']],
});

function language({
  keywords,
  types = '',
  atoms = '',
  lineComment,
  blocks = [],
  tokens = [],
  word = /^[A-Za-z_]\w*/,
}: Shape): StreamParser<State> {
  const tags = new Map<string, Tag>([
    ...keywords.split(' ').map((name) => [name, 'keyword'] as const),
    ...types.split(' ').map((name) => [name, 'typeName'] as const),
    ...atoms.split(' ').map((name) => [name, 'atom'] as const),
  ]);
  const beginToken = (stream: StringStream, state: State): string | null => {
    const block = blocks.find(([start]) => stream.match(start));
    if (block !== undefined) {
      [, state.end, state.tag] = block;
      return goOn(stream, state);
    }
    if (stream.match(lineComment)) {
      stream.skipToEnd();
      return 'comment';
    }
    const token = tokens.find(([pattern]) => stream.match(pattern));
    if (token !== undefined) return token[1];
    if (stream.match(NUMBER)) return 'number';
    if (stream.match(word)) return tags.get(stream.current()) ?? null;
    stream.next();
    return null;
  };
  return {
    name: 'own',
    startState: () => ({ end: null, tag: 'string' }),
    token: (stream, state) => {
      if (state.end !== null) return goOn(stream, state);
      return stream.eatSpace() ? null : beginToken(stream, state);
    },
  };
}

/** Reads the open token to its end, or the rest of the line. In a string, a backslash escapes the next character. */
function goOn(stream: StringStream, state: State): Tag {
  while (!stream.eol() && state.end !== null) {
    if (stream.match(state.end)) state.end = null;
    else if (stream.next() === '\\' && state.tag === 'string') stream.next();
  }
  return state.tag;
}
