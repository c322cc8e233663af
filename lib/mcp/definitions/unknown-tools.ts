import type { ServerEntry } from '../base/server-entry.js';
import type { Offer } from './definition.js';

/** What is wrong with the names in `tools.only` and `tools.not`, in sentences: a misspelt one in `not` leaves in what the user wanted out. */
export function unknownTools(
  { only, not }: Pick<ServerEntry, 'only' | 'not'>,
  { tools }: Pick<Offer, 'tools'>,
): readonly string[] {
  const unknown = (key: string, names: readonly string[]): readonly string[] =>
    names
      .filter((name) => !tools.some((tool) => tool.name === name))
      .map((name) => `It has no tool '${name}', which tools.${key} names.`);
  return [...unknown('only', only ?? []), ...unknown('not', not)];
}
