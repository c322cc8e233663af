import type { ImageSize } from '../../chat/media.js';

/** A picture as pixels: red, green, blue, alpha. */
export interface Pixels extends ImageSize {
  readonly data: Uint8Array;
}

/** Six shades each of red, green and blue: 216 colours, which every terminal with sixel supports. */
const SHADES = 6;
const STEP = 255 / (SHADES - 1);

/** Pixels with a lower alpha are not drawn. */
const OPAQUE = 128;

/** The rows of pixels in one row of sixels. */
const BAND = 6;

/** A picture in sixel format (DEC STD 070). */
export function sixelOf(pixels: Pixels): string {
  const { width, height } = pixels;
  const colours = dithered(pixels);
  const used = [...new Set(colours)].filter((colour) => colour >= 0).sort((one, other) => one - other);
  const bands: string[] = [];
  for (let top = 0; top < height; top += BAND) bands.push(bandOf(colours, width, top, Math.min(BAND, height - top)));
  return `\x1bP0;1;0q"1;1;${width};${height}${used.map(defined).join('')}${bands.join('-')}\x1b\\`;
}

/** The definition of a colour, in hundredths. */
function defined(colour: number): string {
  const shade = (part: number): number => Math.round(((part % SHADES) / (SHADES - 1)) * 100);
  return `#${colour};2;${shade(Math.floor(colour / SHADES / SHADES))};${shade(Math.floor(colour / SHADES))};${shade(colour)}`;
}

/** The nearest colour of each pixel, -1 for none. The error is spread to the following neighbours (Floyd and Steinberg). */
function dithered({ data, width, height }: Pixels): Int16Array {
  const colours = new Int16Array(width * height);
  const rest = Float32Array.from(data);
  for (let at = 0; at < colours.length; at += 1) {
    colours[at] = (data[at * 4 + 3] ?? 0) < OPAQUE ? -1 : nearest(rest, at, width);
  }
  return colours;
}

function nearest(rest: Float32Array, at: number, width: number): number {
  let colour = 0;
  for (let part = 0; part < 3; part += 1) {
    const wanted = Math.min(255, Math.max(0, rest[at * 4 + part] ?? 0));
    const shade = Math.round(wanted / STEP);
    colour = colour * SHADES + shade;
    const lost = wanted - shade * STEP;
    const isLast = at % width === width - 1;
    const give = (other: number, share: number): void => {
      const index = other * 4 + part;
      if (index < rest.length) rest[index] = (rest[index] ?? 0) + (lost * share) / 16;
    };
    if (!isLast) give(at + 1, 7);
    if (at % width > 0) give(at + width - 1, 3);
    give(at + width, 5);
    if (!isLast) give(at + width + 1, 1);
  }
  return colour;
}

/** Up to six rows of pixels. Each colour is drawn from the left margin. */
function bandOf(colours: Int16Array, width: number, top: number, rows: number): string {
  const lines = new Map<number, Uint8Array>();
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const colour = colours[(top + row) * width + column] ?? -1;
      if (colour < 0) continue;
      const line = lines.get(colour) ?? new Uint8Array(width);
      lines.set(colour, line);
      line[column] = (line[column] ?? 0) | (1 << row);
    }
  }
  return [...lines].map(([colour, line]) => `#${colour}${shortened(line)}`).join('$');
}

/** The sixels of a line, run-length encoded, without trailing empty ones. */
function shortened(line: Uint8Array): string {
  let text = '';
  let end = line.length;
  while (end > 0 && line[end - 1] === 0) end -= 1;
  for (let at = 0; at < end; ) {
    let next = at + 1;
    while (next < end && line[next] === line[at]) next += 1;
    const sixel = String.fromCharCode(63 + (line[at] ?? 0));
    text += next - at > 3 ? `!${next - at}${sixel}` : sixel.repeat(next - at);
    at = next;
  }
  return text;
}
