/** How text looks: the parameters of an SGR sequence, joined by semicolons. Plain text has none. Where it leads, if anywhere, follows after a NUL. */
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

/** What is shown in place of the six colours, by each of them; empty for the colour of the text. */
export type Hues = Readonly<Record<Style, Style>>;

/** The one thing of this program that styles have in common: the terminal has one background. */
let hues: Hues | null = null;

/** Sets the colours of all that is styled from now on; null for those of the terminal. */
export function setHues(next: Hues | null): void {
  hues = next;
}

/** The escape sequence that switches to a style, whatever the style before. */
export function sgr(style: Style): string {
  const shown = hues === null ? style : inHues(style, hues);
  return shown === PLAIN ? '\x1b[0m' : `\x1b[0;${shown}m`;
}

function inHues(style: Style, shown: Hues): Style {
  const parameters = style.split(';').map((parameter) => shown[parameter] ?? parameter);
  return parameters.filter((parameter) => parameter !== '').join(';');
}

/** Both styles at once. */
export function combine(first: Style, second: Style): Style {
  if (first === PLAIN) return second;
  return second === PLAIN ? first : `${first};${second}`;
}

/** The same style on text that leads to an address. */
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
