import { type StreamParser, StringStream } from '@codemirror/streamparser';
import { BLUE, BOLD, CYAN, DIM, GREEN, MAGENTA, PLAIN, RED, type Style, YELLOW } from '../text/style.js';
import { LANGUAGES } from './languages.js';

/** Passes the next line of a text to `put` in coloured pieces. Lines must come in order, because a line may continue what earlier ones left open. */
export type Highlighter = (line: string, put: (text: string, style: Style) => void) => void;

/** Loads the parser of a language. Resolves to a function that makes highlighters for it, or to null if the language is unknown. */
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
 * A parser may need several steps for one token, and returns null or nothing for a token without a style. If it does not advance, it is broken: the
 * rest of the line stays plain.
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

/** A tag is a name with modifiers, `variableName.definition`. If there are several, the later ones only refine the first. */
function readTag(tag: string): Style {
  const [name = '', ...modifiers] = (tag.split(' ')[0] ?? '').split('.');
  if (modifiers.includes('definition') || name === 'def') return BLUE;
  if (modifiers.includes('standard')) return CYAN;
  return STYLES[name] ?? PLAIN;
}
