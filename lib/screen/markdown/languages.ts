import { type StreamParser, StringStream } from '@codemirror/streamparser';
import { BLUE, BOLD, CYAN, DIM, GREEN, MAGENTA, PLAIN, RED, type Style, YELLOW } from '../text/styled-text.js';
import * as more from './more-languages.js';

/**
 * Passes the next line of a text to `put` in coloured pieces. Lines must come in order, because a line may continue
 * what earlier ones left open.
 */
export type Highlighter = (line: string, put: (text: string, style: Style) => void) => void;

/**
 * Loads the parser of a language. Resolves to a function that makes highlighters for it, or to null if the language is
 * unknown.
 */
export async function loadHighlighter(language: string): Promise<(() => Highlighter) | null> {
  const load = LANGUAGES[language];
  if (load === undefined) return null;
  const parser = await load();
  return () => createHighlighter(parser);
}

const INDENT = 2;
const TAB = 4;

function createHighlighter(parser: StreamParser<unknown>): Highlighter {
  // CodeMirror's own default for a language without state.
  const state = parser.startState?.(INDENT) ?? true;
  return (line, put) => {
    const stream = new StringStream(line, TAB, INDENT);
    if (line.trim() === '') parser.blankLine?.(state, INDENT);
    while (!stream.eol()) {
      const tag = readToken(parser, stream, state);
      put(line.slice(stream.start, stream.pos), tag ? styleOf(tag) : PLAIN);
    }
  };
}

/**
 * A parser may need several steps for one token, and returns null or nothing for a token without a style. If it does
 * not advance, it is broken: the rest of the line stays plain.
 */
function readToken(parser: StreamParser<unknown>, stream: StringStream, state: unknown): string | null | undefined {
  stream.start = stream.pos;
  for (let step = 0; step < 10; step += 1) {
    const tag = parser.token(stream, state);
    if (stream.pos > stream.start) return tag;
  }
  stream.skipToEnd();
  return null;
}

const STYLES: Readonly<Record<string, Style>> = {
  keyword: MAGENTA,
  modifier: MAGENTA,
  string: GREEN,
  regexp: GREEN,
  comment: DIM,
  meta: DIM,
  number: YELLOW,
  atom: YELLOW,
  bool: YELLOW,
  null: YELLOW,
  typeName: CYAN,
  type: CYAN,
  builtin: CYAN,
  tagName: BLUE,
  tag: BLUE,
  angleBracket: BLUE,
  attributeName: CYAN,
  attribute: CYAN,
  heading: BOLD,
  header: BOLD,
  inserted: GREEN,
  deleted: RED,
};

const styles = new Map<string, Style>();

function styleOf(tag: string): Style {
  const style = styles.get(tag) ?? readTag(tag);
  styles.set(tag, style);
  return style;
}

/**
 * A tag is a name with modifiers, `variableName.definition`. If there are several, the later ones only refine the
 * first.
 */
function readTag(tag: string): Style {
  const [name = '', ...modifiers] = (tag.split(' ')[0] ?? '').split('.');
  if (modifiers.includes('definition') || name === 'def') return BLUE;
  if (modifiers.includes('standard')) return CYAN;
  return STYLES[name] ?? PLAIN;
}

type Load = () => Promise<StreamParser<unknown>>;

/** The languages that can be coloured, by every name they have in code fences. Each is loaded when first used. */
const LANGUAGES: Readonly<Record<string, Load>> = Object.fromEntries(
  names<Load>([
    [
      'javascript js jsx mjs cjs node',
      () => import('@codemirror/legacy-modes/mode/javascript').then((mode) => mode.javascript),
    ],
    [
      'typescript ts tsx mts cts',
      () => import('@codemirror/legacy-modes/mode/javascript').then((mode) => mode.typescript),
    ],
    ['json jsonc json5 jsonl', () => import('@codemirror/legacy-modes/mode/javascript').then((mode) => mode.json)],
    ['python py python3 pycon', () => import('@codemirror/legacy-modes/mode/python').then((mode) => mode.python)],
    [
      'shell sh bash zsh fish console shellsession terminal',
      () => import('@codemirror/legacy-modes/mode/shell').then((mode) => mode.shell),
    ],
    ['c h', () => import('@codemirror/legacy-modes/mode/clike').then((mode) => mode.c)],
    ['cpp c++ cc cxx hpp arduino', () => import('@codemirror/legacy-modes/mode/clike').then((mode) => mode.cpp)],
    ['csharp cs c#', () => import('@codemirror/legacy-modes/mode/clike').then((mode) => mode.csharp)],
    ['java', () => import('@codemirror/legacy-modes/mode/clike').then((mode) => mode.java)],
    ['kotlin kt kts', () => import('@codemirror/legacy-modes/mode/clike').then((mode) => mode.kotlin)],
    ['scala', () => import('@codemirror/legacy-modes/mode/clike').then((mode) => mode.scala)],
    ['dart', () => import('@codemirror/legacy-modes/mode/clike').then((mode) => mode.dart)],
    [
      'objectivec objc objective-c',
      () => import('@codemirror/legacy-modes/mode/clike').then((mode) => mode.objectiveC),
    ],
    ['go golang', () => import('@codemirror/legacy-modes/mode/go').then((mode) => mode.go)],
    ['rust rs', () => import('@codemirror/legacy-modes/mode/rust').then((mode) => mode.rust)],
    ['swift', () => import('@codemirror/legacy-modes/mode/swift').then((mode) => mode.swift)],
    ['ruby rb', () => import('@codemirror/legacy-modes/mode/ruby').then((mode) => mode.ruby)],
    ['perl pl', () => import('@codemirror/legacy-modes/mode/perl').then((mode) => mode.perl)],
    ['lua', () => import('@codemirror/legacy-modes/mode/lua').then((mode) => mode.lua)],
    ['r', () => import('@codemirror/legacy-modes/mode/r').then((mode) => mode.r)],
    ['julia jl', () => import('@codemirror/legacy-modes/mode/julia').then((mode) => mode.julia)],
    ['haskell hs', () => import('@codemirror/legacy-modes/mode/haskell').then((mode) => mode.haskell)],
    ['clojure clj cljs edn', () => import('@codemirror/legacy-modes/mode/clojure').then((mode) => mode.clojure)],
    ['erlang erl', () => import('@codemirror/legacy-modes/mode/erlang').then((mode) => mode.erlang)],
    ['ocaml ml', () => import('@codemirror/legacy-modes/mode/mllike').then((mode) => mode.oCaml)],
    ['fsharp fs f#', () => import('@codemirror/legacy-modes/mode/mllike').then((mode) => mode.fSharp)],
    ['lisp commonlisp elisp', () => import('@codemirror/legacy-modes/mode/commonlisp').then((mode) => mode.commonLisp)],
    ['scheme racket', () => import('@codemirror/legacy-modes/mode/scheme').then((mode) => mode.scheme)],
    ['groovy gradle', () => import('@codemirror/legacy-modes/mode/groovy').then((mode) => mode.groovy)],
    ['powershell ps1 pwsh', () => import('@codemirror/legacy-modes/mode/powershell').then((mode) => mode.powerShell)],
    ['html htm vue svelte', () => import('@codemirror/legacy-modes/mode/xml').then((mode) => mode.html)],
    ['xml svg xhtml xsd', () => import('@codemirror/legacy-modes/mode/xml').then((mode) => mode.xml)],
    ['css', () => import('@codemirror/legacy-modes/mode/css').then((mode) => mode.css)],
    ['scss', () => import('@codemirror/legacy-modes/mode/css').then((mode) => mode.sCSS)],
    ['less', () => import('@codemirror/legacy-modes/mode/css').then((mode) => mode.less)],
    ['sql sqlite', () => import('@codemirror/legacy-modes/mode/sql').then((mode) => mode.standardSQL)],
    ['postgres postgresql pgsql plpgsql', () => import('@codemirror/legacy-modes/mode/sql').then((mode) => mode.pgSQL)],
    ['mysql mariadb', () => import('@codemirror/legacy-modes/mode/sql').then((mode) => mode.mySQL)],
    ['yaml yml', () => import('@codemirror/legacy-modes/mode/yaml').then((mode) => mode.yaml)],
    ['toml', () => import('@codemirror/legacy-modes/mode/toml').then((mode) => mode.toml)],
    [
      'ini properties dotenv env conf',
      () => import('@codemirror/legacy-modes/mode/properties').then((mode) => mode.properties),
    ],
    [
      'dockerfile docker containerfile',
      () => import('@codemirror/legacy-modes/mode/dockerfile').then((mode) => mode.dockerFile),
    ],
    ['cmake', () => import('@codemirror/legacy-modes/mode/cmake').then((mode) => mode.cmake)],
    ['nginx', () => import('@codemirror/legacy-modes/mode/nginx').then((mode) => mode.nginx)],
    ['protobuf proto', () => import('@codemirror/legacy-modes/mode/protobuf').then((mode) => mode.protobuf)],
    ['diff patch', () => import('@codemirror/legacy-modes/mode/diff').then((mode) => mode.diff)],
    ['http', () => import('@codemirror/legacy-modes/mode/http').then((mode) => mode.http)],
    ['latex tex', () => import('@codemirror/legacy-modes/mode/stex').then((mode) => mode.stex)],
    ['fortran f90', () => import('@codemirror/legacy-modes/mode/fortran').then((mode) => mode.fortran)],
    ['pascal delphi', () => import('@codemirror/legacy-modes/mode/pascal').then((mode) => mode.pascal)],
    ['vb vbnet', () => import('@codemirror/legacy-modes/mode/vb').then((mode) => mode.vb)],
    ['verilog systemverilog', () => import('@codemirror/legacy-modes/mode/verilog').then((mode) => mode.verilog)],
    ['vhdl', () => import('@codemirror/legacy-modes/mode/vhdl').then((mode) => mode.vhdl)],
    ['asm assembly gas nasm', () => import('@codemirror/legacy-modes/mode/gas').then((mode) => mode.gas)],
    ['wasm wast wat', () => import('@codemirror/legacy-modes/mode/wast').then((mode) => mode.wast)],
    ['php php3 phtml', async () => more.php],
    ['elixir ex exs', async () => more.elixir],
    ['makefile make mk', async () => more.makefile],
    ['hcl terraform tf tfvars', async () => more.hcl],
    ['zig', async () => more.zig],
    ['graphql gql', async () => more.graphql],
    ['octave matlab', () => import('@codemirror/legacy-modes/mode/octave').then((mode) => mode.octave)],
  ]),
);

/** Splits each list of names, `first second`, into one member per name. */
function names<Value>(members: readonly (readonly [string, Value])[]): readonly (readonly [string, Value])[] {
  return members.flatMap(([list, value]) => list.split(' ').map((name) => [name, value] as const));
}
