/** How text looks: the parameters of an SGR sequence, joined by semicolons. Plain text has none. Where it leads, if anywhere, follows after a NUL. */
export type Style = string;

export const PLAIN: Style = '';
export const BOLD: Style = '1';
export const DIM: Style = '2';
export const ITALIC: Style = '3';
export const UNDERLINE: Style = '4';
export const STRUCK: Style = '9';
export const RED: Style = '31';
export const GREEN: Style = '32';
export const YELLOW: Style = '33';
export const BLUE: Style = '34';
export const MAGENTA: Style = '35';
export const CYAN: Style = '36';

/** The escape sequence that switches to a style, whatever the style before. */
export function sgr(style: Style): string {
  return style === PLAIN ? '\x1b[0m' : `\x1b[0;${style}m`;
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
