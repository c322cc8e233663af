import { asHiError } from '../errors.js';
import { readMemory } from './memory-file.js';
import { MEMORY_LIMIT, sentMemory } from './memory-text.js';

/** The part of every request that comes from `memory.md`. */
export interface Standing {
  /** What is sent; null for nothing. */
  readonly text: string | null;
  /** Why the file is not sent in full; null if it is. */
  readonly warning: string | null;
}

const LABEL = 'The user wants this always kept in mind:';

/** The part of the file at `path` that is sent. */
export function standingOf(path: string): Standing {
  try {
    const { text, tokens, leftOutFrom } = sentMemory(readMemory(path));
    return {
      text: text === '' ? null : `${LABEL}\n\n${text}`,
      warning: leftOutFrom === null ? null : tooMuch(path, tokens, leftOutFrom),
    };
  } catch (thrown) {
    const { message } = asHiError(thrown);
    return { text: null, warning: `${message} None of it is sent.` };
  }
}

const tooMuch = (path: string, tokens: number, line: number): string =>
  `'${path}' has ${tokens} tokens, more than ${MEMORY_LIMIT}: line ${line} and everything after it is not sent. To shorten it, type: /memory`;
