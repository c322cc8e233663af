import { headingsOf } from './headings.js';

/**
 * The beginning of a skill in at most `limit` characters, up to a heading where one is near, else to the end of a paragraph or line.
 * Its last line says where the whole text is.
 */
export function cutAtHeading(body: string, limit: number, path: string): string {
  if (body.length <= limit) return body;
  const note = `[The rest is left out to save room. The whole text is in ${path}; read_file reads it.]`;
  const room = body.slice(0, Math.max(0, limit - note.length - 2));
  const borders = [headingsOf(room).at(-1)?.at ?? 0, room.lastIndexOf('\n\n'), room.lastIndexOf('\n')];
  const end = borders.find((border) => border > room.length / 2) ?? room.length;
  // A cut anywhere else may halve a surrogate pair.
  return `${room
    .slice(0, end)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trimEnd()}\n\n${note}`.trimStart();
}
