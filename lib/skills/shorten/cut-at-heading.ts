import { firstCharacters } from '../../chat/text.js';
import { headingsOf } from '../find/headings.js';

/** The file with the full text, and the tool that reads it. */
interface Source {
  readonly path: string;
  readonly reader: string;
}

/**
 * The beginning of a skill in at most `limit` characters, up to a nearby heading, else to the end of a paragraph or line.
 * The last line says that text is missing and where it is; `source` is null for a model that cannot read files.
 */
export function cutAtHeading(body: string, limit: number, source: Source | null): string {
  if (body.length <= limit) return body;
  const whole = source === null ? '' : ` The whole text is in ${source.path}; ${source.reader} reads it.`;
  const note = `[The rest is left out to save room.${whole}]`;
  const room = body.slice(0, Math.max(0, limit - note.length - 2));
  const borders = [headingsOf(room).at(-1)?.at ?? 0, room.lastIndexOf('\n\n'), room.lastIndexOf('\n')];
  const end = borders.find((border) => border > room.length / 2) ?? room.length;
  return `${firstCharacters(room, end).trimEnd()}\n\n${note}`.trimStart();
}
