import { type StreamParser, StringStream } from '@codemirror/streamparser';
import { LANGUAGES } from './languages.js';
import { BLUE, BOLD, CYAN, DIM, GREEN, MAGENTA, PLAIN, RED, type Style, YELLOW } from './style.js';

/** Puts the next line of a text, piece by piece, with its colours. It remembers what earlier lines left open, so lines must come in order. */
export type Highlighter = (line: string, put: (text: string, style: Style) => void) => void;

/** Loads what is needed to colour that language and resolves to a way to make highlighters for it; null when the language is not known. */
export async function loadHighlighter(language: string): Promise<(() => Highlighter) | null> {
  const load = LANGUAGES[language];
  if (load === undefined) return null;
  const parser = await load();
  return () => createHighlighter(parser);
}

const INDENT = 2;
const TAB = 4;

function createHighlighter(parser: StreamParser<unknown>): Highlighter {
  // CodeMirror's own default where a language needs no state.
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

/** A language may need several steps for one token, and says null or nothing at all of one without a style; one that does not move is broken, and the rest of the line stays plain. */
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
  builtin: CYAN,
  tagName: BLUE,
  attributeName: CYAN,
  heading: BOLD,
  inserted: GREEN,
  deleted: RED,
};

const known = new Map<string, Style>();

function styleOf(tag: string): Style {
  const style = known.get(tag) ?? readTag(tag);
  known.set(tag, style);
  return style;
}

/** Tags are a name and modifiers, `variableName.definition`; sometimes several, which then mean the same thing more precisely. */
function readTag(tag: string): Style {
  const [name = '', ...modifiers] = (tag.split(' ')[0] ?? '').split('.');
  if (modifiers.includes('definition') || name === 'def') return BLUE;
  if (modifiers.includes('standard')) return CYAN;
  return STYLES[name] ?? PLAIN;
}
