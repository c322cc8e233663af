import { mentionsIn } from '../input/mention-words.js';
import type { AttachedResource, MentionDeps } from '../input/mentions.js';

/** The resources that a text mentions as `@SERVER:uri`, each once. Throws a `HiError` if one cannot be read. */
export async function mentionedResources(
  text: string,
  read: NonNullable<MentionDeps['resource']>,
  signal: AbortSignal,
): Promise<readonly AttachedResource[]> {
  const found: AttachedResource[] = [];
  for (const { paths } of mentionsIn(text, [])) {
    const resource = await read(
      paths.map(({ path }) => path),
      signal,
    );
    if (resource !== null && found.every(({ label }) => label !== resource.label)) found.push(resource);
  }
  return found;
}
