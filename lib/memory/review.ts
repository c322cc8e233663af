import { createHash } from 'node:crypto';
import type { Entry } from '../chat/entry.js';
import { type Fact, restOf, stateOf } from '../view/block-state.js';
import { newestBlock } from '../view/view.js';
import { asLine, comment, commentsIn, isSameText, linesOf, withoutOpenComment } from './memory-text.js';

/** A fact that may be worth remembering, and whether it is partly based on text from tools, files or web pages. */
export interface OfferedFact extends Pick<Fact, 'kind' | 'text'> {
  readonly isForeign: boolean;
}

/**
 * The facts of the newest summary that may be worth remembering: preferences and decisions that are not in the memory
 * and were never offered.
 */
export function factsToReview(entries: readonly Entry[], source: string): readonly OfferedFact[] {
  const block = newestBlock(entries);
  const facts = stateOf(block).facts.filter(({ kind }) => kind === 'pref' || kind === 'decision');
  return notOffered(facts, source).map((fact) => ({
    ...fact,
    isForeign: block !== null && restOf(fact, block) === 'foreign',
  }));
}

/** Those of which the memory has no line, and which were never offered; of one text the first. */
export function notOffered<Offered extends Pick<Fact, 'text'>>(
  all: readonly Offered[],
  source: string,
): readonly Offered[] {
  const lines = linesOf(source);
  const seen = new Set(offeredIn(source));
  return all.filter(({ text }) => {
    const isNew = !seen.has(keyOf(text)) && !lines.some((line) => isSameText(line.text, text));
    seen.add(keyOf(text));
    return isNew;
  });
}

/**
 * The source with a note, which is not sent, that this fact was offered. The note holds only a hash: the user may have
 * declined to keep the text.
 */
export function withOffered(source: string, { text }: Pick<Fact, 'text'>): string {
  const offered = [...new Set([...offeredIn(source), keyOf(text)])];
  const note = comment(`${NOTE} ${offered.join(' ')}`);
  const before = commentsIn(source).find((one) => one.text.startsWith(`${NOTE} `));
  if (before !== undefined) return source.slice(0, before.start) + note + source.slice(before.end);
  const closed = withoutOpenComment(source);
  return `${closed}${closed === '' || closed.endsWith('\n') ? '' : '\n'}${note}\n`;
}

const NOTE = 'offered';

function offeredIn(source: string): ReadonlySet<string> {
  const notes = commentsIn(source).filter(({ text }) => text.startsWith(`${NOTE} `));
  return new Set(notes.flatMap(({ text }) => text.split(/\s+/).slice(1)));
}

const keyOf = (text: string): string =>
  createHash('sha256').update(asLine(text).toLowerCase()).digest('hex').slice(0, 12);
