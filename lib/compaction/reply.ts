import { citedIn, citingOnly, withoutElements } from '../chat/marked-text.js';
import type { StopReason } from '../chat/message.js';
import { estimateTokens, type Tokens, type WrittenText } from '../chat/request.js';
import { firstCharacters } from '../chat/text.js';
import { HiError } from '../errors.js';
import type { Fact, FactKind } from '../view/block-state.js';
import { BLOCK_PREFIX } from '../view/present.js';
import { MARKERS } from './prompt.js';

/** A parsed summary. */
export interface Reply {
  readonly prose: string;
  readonly added: readonly Fact[];
  /** The numbers, as in the prompt, of facts that are no longer true. */
  readonly outdated: readonly number[];
}

/** A text above its budget is cut at a line; one above this multiple of its budget is rejected. */
const TOLERANCE = 1.5;

/**
 * Parses a reply in the requested format, or as plain prose.
 * Throws a `HiError` for a reply that must not replace messages: empty, refused, cut off, an error message, or far too long.
 */
export function readReply({ text, stop_reason }: Pick<WrittenText, 'text' | 'stop_reason'>, budget: Tokens): Reply {
  if (stop_reason === 'refusal') throw invalid('the model refused to write it');
  if (stop_reason !== 'end') throw invalid(INCOMPLETE[stop_reason]);
  const parts = split(withoutThinking(text).replaceAll(BLOCK_PREFIX, ''));
  if (citingOnly(parts.prose, () => false).trim() === '') throw invalid('the answer was empty');
  if (isExcuse(parts.prose)) throw invalid(`the answer was '${parts.prose.slice(0, 80)}'`);
  const size = estimateTokens(parts.prose.length);
  if (size > TOLERANCE * budget) throw invalid(`it has ${size} tokens where ${budget} were asked for`);
  return { ...parts, prose: wholeLines(parts.prose, budget * 4) };
}

/** Why a reply that did not end normally is not a summary. */
const INCOMPLETE: Readonly<Record<Exclude<StopReason, 'end' | 'refusal'>, string>> = {
  length: 'the answer reached the output limit of the model before it was complete',
  tool_calls: 'the model called a tool instead of answering',
  tool_limit: 'the answer was stopped before it was complete',
  interrupted: 'the answer was interrupted',
};

function invalid(reason: string): HiError {
  return new HiError('malformed', `${reason}.`, { hint: 'Try /compact again, or set another small_model.' });
}

const withoutThinking = (text: string): string =>
  withoutElements(text, /<(think|thinking|analysis|scratchpad)>/gi, '')
    .replace(/^\s*```\w*\n([\s\S]*?)\n```\s*$/, '$1')
    .trim();

function split(text: string): Reply {
  const [head = '', ...rest] = text.split(/^[ \t=#*_]*(NEW FACTS|OUTDATED FACTS)[ \t\r=#*_:]*$/im);
  const added: Fact[] = [];
  const outdated: number[] = [];
  for (let at = 0; at < rest.length; at += 2) {
    const body = rest[at + 1] ?? '';
    if (rest[at]?.toUpperCase() === MARKERS.add) for (const fact of factsIn(body)) added.push(fact);
    else for (const [number] of body.matchAll(/\d+/g)) outdated.push(Number(number));
  }
  const lines = head.replace(new RegExp(`^[ \\t=#*_]*${MARKERS.summary}[ \\t\\r=#*_:]*$`, 'im'), '').split('\n');
  // A preference counts, and is checked, wherever it stands: prose must not pass for one.
  const isPreference = (line: string): boolean => factsIn(line).some(({ kind }) => kind === 'pref');
  for (const fact of factsIn(lines.filter(isPreference).join('\n'))) added.push(fact);
  return {
    prose: lines
      .filter((line) => !isPreference(line))
      .join('\n')
      .trim(),
    added,
    outdated,
  };
}

const KINDS: Readonly<Record<string, FactKind>> = {
  pref: 'pref',
  preference: 'pref',
  decision: 'decision',
  fact: 'fact',
  result: 'fact',
  open: 'open',
  done: 'done',
};

function factsIn(body: string): readonly Fact[] {
  return body.split('\n').flatMap((line) => {
    const match = /^(?:[-*•]|\d+[.)])?\s*[[*"]*([a-z]+)[\]*]*\s*[:：]\s*(.+)/i.exec(line.trim());
    const kind = KINDS[match?.[1]?.toLowerCase() ?? ''];
    return kind && match?.[2] ? [factOf(kind, match[2])] : [];
  });
}

function factOf(kind: FactKind, said: string): Fact {
  const ids = citedIn(said);
  const text = citingOnly(said, () => false)
    .replace(/^\*+\s*/, '')
    .replace(/"$/, '')
    .trim();
  return { kind, text, ...(ids.length > 0 && { ids }) };
}

/** Matches refusals of small models and error messages of gateways. */
function isExcuse(prose: string): boolean {
  if (prose.length > 400) return false;
  return (
    /^(?:(?:i['’]?m|i am) (?:very )?sorry|sorry,|i (?:cannot|can['’]?t|am unable|won['’]?t)|as an ai\b)/i.test(prose) ||
    /^(?:\{\s*"error"|(?:internal |api |http )?(?:server )?error\b\s*[:\d(]|http \d{3}\b|5\d\d [a-z])/i.test(prose)
  );
}

/** As many whole lines as fit; if the first one is too long, its beginning. */
export function wholeLines(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = text.lastIndexOf('\n', limit);
  return (end > 0 ? text.slice(0, end) : firstCharacters(text, limit)).trim();
}
