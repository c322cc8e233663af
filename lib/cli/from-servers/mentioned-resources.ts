import { mentionsIn } from '../input/mention-words.js';
import type { AttachedResource, MentionDeps } from '../input/mentions.js';

/** What `@SERVER:uri` in a text names, each once. Throws a `HiError` for one that cannot be had. */
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
