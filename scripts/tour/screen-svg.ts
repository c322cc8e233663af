import type { Stretch } from '../../spec/support/terminal.js';

/** The terminal colours in a picture: text and background, and the 16 of the palette. */
export interface Palette {
  readonly background: string;
  readonly text: string;
  readonly colours: readonly string[];
}

export const DARK: Palette = {
  background: '#1e2127',
  text: '#d5d8df',
  colours:
    '#1e2127 #e06c75 #98c379 #d19a66 #61afef #c678dd #56b6c2 #abb2bf #5c6370 #e06c75 #98c379 #d19a66 #61afef #c678dd #56b6c2 #ffffff'.split(
      ' ',
    ),
};

export const LIGHT: Palette = {
  background: '#fafafa',
  text: '#383a42',
  colours:
    '#000000 #ca1243 #50a14f #c18401 #4078f2 #a626a4 #0184bc #a0a1a7 #5c6370 #ca1243 #50a14f #c18401 #4078f2 #a626a4 #0184bc #ffffff'.split(
      ' ',
    ),
};

/** The size of a cell in pixels, and the space around the screen. */
const CELL = { width: 8.43, height: 19 };
const MARGIN = 16;
const FONT = "ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace";

/** A screen of a terminal as an SVG, without the empty rows at its end. `label` is the alternative text. */
export function screenSvg(
  rows: readonly (readonly Stretch[])[],
  columns: number,
  palette: Palette,
  label: string,
): string {
  const last = rows.findLastIndex((row) => row.some(({ text }) => text.trim() !== ''));
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
  const height = Math.ceil((last + 1) * CELL.height + 2 * MARGIN);
  const lines = rows.slice(0, last + 1).flatMap((row, index) => row.flatMap((one) => stretchSvg(one, index, palette)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(label)}">`,
    `<rect width="${width}" height="${height}" rx="8" fill="${palette.background}"/>`,
    `<g font-family="${FONT}" font-size="14" fill="${palette.text}">`,
    ...lines,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** Each run of text has a fixed position and length, so that columns are aligned with any font. */
function stretchSvg(stretch: Stretch, row: number, palette: Palette): readonly string[] {
  const { text, column, width, bold, dim, italic, underline, inverse } = stretch;
  if (text.trim() === '' && !inverse) return [];
  const blanks = text.length - text.trimStart().length;
  const shown = inverse ? text : text.trim();
  const x = MARGIN + (column + (inverse ? 0 : blanks)) * CELL.width;
  const length = (inverse ? width : width - blanks - (text.length - text.trimEnd().length)) * CELL.width;
  const top = MARGIN + row * CELL.height;
  const colour = colourOf(stretch.colour, palette);
  const look = [
    inverse ? ` fill="${palette.background}"` : colour === null ? '' : ` fill="${colour}"`,
    bold ? ' font-weight="bold"' : '',
    italic ? ' font-style="italic"' : '',
    underline ? ' text-decoration="underline"' : '',
    dim ? ' opacity="0.6"' : '',
  ].join('');
  const place = `x="${round(x)}" y="${round(top + 14)}" textLength="${round(length)}" lengthAdjust="spacingAndGlyphs"`;
  const box = inverse
    ? [
        `<rect x="${round(x)}" y="${round(top)}" width="${round(length)}" height="${CELL.height}" fill="${palette.text}"/>`,
      ]
    : [];
  return [...box, `<text ${place} xml:space="preserve"${look}>${escaped(shown)}</text>`];
}

/** Null for the default text colour. The 240 colours after the palette are the same everywhere. */
function colourOf(index: number, { colours }: Palette): string | null {
  if (index < 0) return null;
  if (index < 16) return colours[index] ?? null;
  if (index >= 232) return hex(Array.from({ length: 3 }, () => 8 + 10 * (index - 232)));
  const at = index - 16;
  const steps = [0, 95, 135, 175, 215, 255];
  return hex([Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((step) => steps[step] ?? 0));
}

const hex = (channels: readonly number[]): string =>
  `#${channels.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;

const round = (value: number): number => Math.round(value * 100) / 100;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
