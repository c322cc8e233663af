import { neutralise } from '../screen/text/sanitize.js';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Text as it stands in HTML, in an attribute with double quotes too. */
export function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
}

/**
 * HTML in which nothing turns the direction of what follows, and no character is one that a terminal or an editor would obey. Applied to finished HTML,
 * because Markdown can spell any character as an entity.
 */
export function harmless(html: string): string {
  return neutralise(html);
}
