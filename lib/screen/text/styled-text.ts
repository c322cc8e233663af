import truncatedWidth from 'fast-string-truncated-width';

/** A piece of a line in one style. */
export interface Run {
  readonly text: string;
  readonly style: Style;
}

/**
 * Collects styled text with as few escape sequences as possible. Every line ends plain, so that no style reaches what
 * follows it.
 */
export class StyledText {
  /** Not one growing string: V8 would keep it as a tree of its pieces, several times as large. */
  readonly #pieces: string[] = [];
  #style: Style = PLAIN;
  #link = '';
  readonly hasColour: boolean;

  constructor(hasColour = true) {
    this.hasColour = hasColour;
  }

  /** Adds text in a style. */
  put(text: string, style: Style): void {
    if (text === '') return;
    if (style !== this.#style) this.#change(style);
    this.#pieces.push(text);
  }

  /** Adds text of a paragraph, in which a space may become a newline. */
  putProse(text: string, style: Style): void {
    this.put(text, style);
  }

  /** Starts a paragraph, list item or quotation at this column. Each continuation row would start with `prefix`. */
  beginProse(_prefix: readonly Run[], _column: number): void {}

  /** Starts a heading at this column, which no newline may part. */
  beginHeading(_column: number): void {}

  /** Stops wrapping for the rest of the line. */
  endProse(): void {}

  /**
   * Holds back the rest of the line until the next line, which may turn both into a table. A long line is not held
   * back.
   */
  hold(): void {}

  get isHeld(): boolean {
    return false;
  }

  /** The held line turned out to be the head of a table. */
  endTableHead(): void {}

  /** Adds pending text, as far as more text is unlikely to move it; `isStale` if no text has come for a while. */
  settle(_isStale: boolean): void {}

  /** Another writer ended the line. */
  restartRow(): void {}

  /** Ends the line. */
  endLine(): void {
    if (this.#style !== PLAIN) this.#change(PLAIN);
    this.#pieces.push('\n');
  }

  /** Makes text written by others plain. The style comes back with the next text. */
  pause(): void {
    if (this.#style !== PLAIN) this.#change(PLAIN);
  }

  /** Returns what was added since the last call. */
  take(): string {
    if (this.#pieces.length === 0) return '';
    const text = this.#pieces.join('');
    // A new array would begin as one of small integers, and each put into it undo what V8 has optimised.
    this.#pieces.length = 0;
    return text;
  }

  #change(style: Style): void {
    this.#style = style;
    if (!this.hasColour) return;
    const end = style.indexOf('\0');
    const link = end === -1 ? '' : style.slice(end + 1);
    if (link !== this.#link) this.#pieces.push(linkTo(link));
    this.#link = link;
    this.#pieces.push(sgr(end === -1 ? style : style.slice(0, end)));
  }
}

/**
 * How text looks: the parameters of an SGR sequence, joined by semicolons. Empty for plain text. The target of a link
 * follows after a NUL.
 */
export type Style = string;

export const PLAIN: Style = '';
export const BOLD: Style = '1';
export const DIM: Style = '2';
export const ITALIC: Style = '3';
export const UNDERLINE: Style = '4';
export const INVERSE: Style = '7';
export const STRUCK: Style = '9';
export const RED: Style = '31';
export const GREEN: Style = '32';
export const YELLOW: Style = '33';
/** The bright one: most terminals show the other so dark that it cannot be read on black. */
export const BLUE: Style = '94';
export const MAGENTA: Style = '35';
export const CYAN: Style = '36';

/** The replacement for each of the six colours; empty for the default text colour. */
type ThemeColours = Readonly<Record<Style, Style>>;

/** Global state, because the terminal has one background. */
let themeColours: ThemeColours | null = null;

/** Sets the colours used from now on; null for the terminal's own. */
function setThemeColours(next: ThemeColours | null): void {
  themeColours = next;
}

/** The escape sequence that switches to a style, whatever the style before. */
function sgr(style: Style): string {
  const shown = themeColours === null ? style : inThemeColours(style, themeColours);
  return shown === PLAIN ? '\x1b[0m' : `\x1b[0;${shown}m`;
}

function inThemeColours(style: Style, shown: ThemeColours): Style {
  const parameters = style.split(';').map((parameter) => shown[parameter] ?? parameter);
  return parameters.filter((parameter) => parameter !== '').join(';');
}

/** Both styles at once. */
export function combine(first: Style, second: Style): Style {
  if (first === PLAIN) return second;
  return second === PLAIN ? first : `${first};${second}`;
}

/** The style with a link to an address. */
export function linked(style: Style, url: string): Style {
  return `${style}\0${url}`;
}

/** The text in a style. It is plain again before its last newlines, so that the style does not reach the next line. */
export function paint(text: string, style: Style): string {
  if (style === PLAIN || text === '') return text;
  let end = text.length;
  while (text[end - 1] === '\n') end -= 1;
  const body = text.slice(0, end);
  return body === '' ? text : `${sgr(style)}${body}${sgr(PLAIN)}${text.slice(body.length)}`;
}

/**
 * The sequence that makes the text after it a link, on terminals that support it (OSC 8). An empty address ends the
 * link.
 */
export function linkTo(url: string): string {
  return `\x1b]8;;${encoded(url)}\x1b\\`;
}

/** The address in the form links need, ASCII only; null if it is not an address. */
export function linkTarget(address: string): string | null {
  return /^(?:https?:\/\/|mailto:)/i.test(address) && URL.canParse(address) ? encoded(address) : null;
}

const encoded = (url: string): string => (URL.canParse(url) ? new URL(url).href : encodeURI(url.toWellFormed()));

/** Longer rows of text are hard to read, in columns. */
export const LONGEST_ROW = 100;

/** The width of a text on a terminal, in columns. A tab counts as four. */
export function textWidth(text: string): number {
  // Words are short: a loop is done before a regular expression has begun.
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return truncatedWidth(text.replaceAll('\t', '    ')).width;
  }
  return text.length;
}

/** The text, or as much of it as fits so many columns, with an ellipsis. */
export function firstColumns(text: string, columns: number): string {
  const { index, truncated, ellipsed } = truncatedWidth(text, { limit: columns, ellipsis: '…', ellipsisWidth: 1 });
  return truncated || ellipsed ? `${text.slice(0, index)}…` : text;
}

/** The colours of answers and notices. */
type ThemeName = 'dark' | 'light' | 'mono' | 'terminal';

const indexed = (index: number): string => `38;5;${index}`;

/**
 * Null for the 16 colours of the terminal's own palette. The others use the 256-colour palette, which themes rarely
 * change.
 */
export const THEMES: Readonly<Record<ThemeName, ThemeColours | null>> = {
  terminal: null,
  dark: {
    [RED]: indexed(210),
    [GREEN]: indexed(114),
    [YELLOW]: indexed(179),
    [BLUE]: indexed(111),
    [MAGENTA]: indexed(176),
    [CYAN]: indexed(80),
  },
  light: {
    [RED]: indexed(160),
    [GREEN]: indexed(22),
    [YELLOW]: indexed(94),
    [BLUE]: indexed(25),
    [MAGENTA]: indexed(90),
    [CYAN]: indexed(23),
  },
  mono: { [RED]: '1', [GREEN]: '', [YELLOW]: '', [BLUE]: '', [MAGENTA]: '', [CYAN]: '' },
};

/** Uses the colours of a theme from now on. */
export function useTheme(name: ThemeName): void {
  setThemeColours(THEMES[name]);
}
