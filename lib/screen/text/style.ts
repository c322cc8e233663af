/** How text looks: the parameters of an SGR sequence, joined by semicolons. Empty for plain text. The target of a link follows after a NUL. */
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
export const BLUE: Style = '34';
export const MAGENTA: Style = '35';
export const CYAN: Style = '36';

/** The replacement for each of the six colours; empty for the default text colour. */
export type ThemeColours = Readonly<Record<Style, Style>>;

/** Global state, because the terminal has one background. */
let themeColours: ThemeColours | null = null;

/** Sets the colours used from now on; null for the terminal's own. */
export function setThemeColours(next: ThemeColours | null): void {
  themeColours = next;
}

/** The escape sequence that switches to a style, whatever the style before. */
export function sgr(style: Style): string {
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
