import { neutralise } from '../screen/text/neutralise.js';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text escaped for HTML, including attributes in double quotes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

/**
 * HTML without bidi controls and without characters that a terminal or an editor would obey. Applied to finished HTML,
 * because Markdown can spell any character as an entity.
 */
export function harmless(html: string): string {
  return neutralise(html);
}
