import {
  type CompressBlock,
  type Entry,
  isCompressBlock,
  isMessage,
  type Mark,
  REST,
  type UnknownEntry,
  WHOLE,
} from './entry.js';
import type { CompactionReport, KeptEntry } from './event.js';
import { commandIn, type Message, type Part, type TextPart, withWholeTexts } from './message.js';
import { firstCharacters, localMinute, quantity, sizeText } from './text.js';
import { sourceMarkdown, sourceText, withCitations } from './web-source.js';

/** The number of characters of a tool's arguments or result that a transcript shows. */
const SHOWN_LENGTH = 400;

/**
 * The line a compaction leaves on the screen and in the transcript: `── 42 messages compacted · 6 kept · 101k → 14k
 * tokens ──`.
 */
export function compactionLine(report: Omit<CompactionReport, 'source'>): string {
  const { messages_compacted: compacted, messages_kept: kept } = report;
  if (report.strategy === WHOLE)
    return `── ${kept} message${kept === 1 ? '' : 's'} in view · ${shortCount(report.tokens_after)} tokens ──`;
  if (report.strategy === REST) {
    const what = compacted === 0 ? 'long texts' : `${compacted} message${compacted === 1 ? '' : 's'}`;
    const left = `${what} left the view`;
    return `── ${left} · ${kept} kept · ${shortCount(report.tokens_after)} tokens · /all asks with everything ──`;
  }
  const tokens = `${shortCount(report.tokens_before)} → ${shortCount(report.tokens_after)} tokens`;
  return `── ${compacted} message${compacted === 1 ? '' : 's'} compacted · ${kept} kept · ${tokens} ──`;
}

/** The line that marks where a compaction was undone. */
function restoredLine({ messages_kept: kept, tokens_before, tokens_after }: CompressBlock): string {
  const tokens = `${shortCount(tokens_before)} → ${shortCount(tokens_after)} tokens`;
  return `── compaction undone · ${kept} message${kept === 1 ? '' : 's'} in view · ${tokens} ──`;
}

/** The line for messages that were recalled, with the books that some are from: `⌕ 2 recalled, 1 from chatgpt`. */
export function recalledLine(parts: readonly Omit<TextPart, 'type' | 'text'>[]): string {
  const all = parts.reduce((sum, { recalled = [] }) => sum + recalled.length, 0);
  const books = parts.flatMap(({ recalled = [], book }) =>
    book === undefined ? [] : `, ${recalled.length} from ${book}`,
  );
  return `⌕ ${all} recalled${books.join('')}`;
}

/** A count in a short form: `950`, `1.4k`, `101k`, `1.2M`. */
export function shortCount(count: number): string {
  if (count < 1000) return String(count);
  if (count < 9_950) return `${(count / 1000).toFixed(1).replace(/\.0$/, '')}k`;
  if (count < 999_500) return `${Math.round(count / 1000)}k`;
  return `${(count / 1_000_000).toFixed(1).replace(/\.0$/, '')}M`;
}

/** No turn. */
const NONE: ReadonlySet<number> = new Set();

/**
 * An entry of the history as plain text with a final newline; empty if it has no text. With `now`, dates are relative
 * to that time. Entries of `undone` turns are marked.
 */
export function transcriptOf(entry: Entry, now: Date | null = null, undone = NONE): string {
  if (!isMessage(entry)) return `${entryLine(entry)}\n`;
  const body = bodyOf(entry).map(({ text }) => text);
  if (body.length === 0) return '';
  return entry.role === 'tool' ? `${body.join('\n')}\n` : `${heading(entry, now, undone)}\n${body.join('\n')}\n`;
}

/** The same behind its id if it is to be shown; a compaction then with its summary. */
export function keptText({ entry, now, undone, hasId }: KeptEntry): string {
  const text = transcriptOf(entry, now, undone);
  if (!hasId || text === '') return text;
  const summary = isCompressBlock(entry) ? summaryOf(entry) : '';
  return `#${entry.id} · ${text}${summary === '' ? '' : `${summary}\n`}`;
}

/** What replaces the messages that a compaction took out of view; empty if nothing does. */
export function summaryOf({ content, restores }: CompressBlock): string {
  return restores === undefined ? content.trim() : '';
}

/** The line of an entry that is no message. */
export function entryLine(entry: Exclude<Entry, Message>): string {
  if (isCompressBlock(entry)) return entry.restores === undefined ? compactionLine(entry) : restoredLine(entry);
  return `── ${markText(entry)} ──`;
}

/** A piece of what a message says: somebody's words, the output of a command, or a line about something else. */
export interface BodyPart {
  readonly kind: 'words' | 'output' | 'note';
  readonly text: string;
}

/**
 * The parts of a message as they are shown: an answer's texts whole, with the numbers of their sources. `mark`: how a
 * number is written.
 */
export function shownParts(
  { role, content, sources = [] }: Message,
  mark?: (number: number) => string,
): readonly Part[] {
  if (role !== 'assistant') return content;
  return withWholeTexts(content).map((part) =>
    part.type === 'text' ? { ...part, text: withCitations(part.text, sources, mark) } : part,
  );
}

/** What a message says, without empty parts. */
export function bodyOf(message: Message): readonly BodyPart[] {
  const { role, sources, stop_reason } = message;
  const body = shownParts(message).map((part): BodyPart => {
    const text = partText(part);
    const typed = asTyped(role, text);
    if (typed !== text) return { kind: 'output', text: typed };
    return { kind: part.type === 'text' && part.recalled === undefined ? 'words' : 'note', text };
  });
  if (sources?.length) body.push({ kind: 'note', text: `Sources:\n${sourceText(sources)}` });
  if (stop_reason === 'interrupted') body.push({ kind: 'note', text: '[interrupted]' });
  return body.filter(({ text }) => text !== '');
}

function markText(entry: Mark | UnknownEntry): string {
  switch (entry.type) {
    case 'undo':
      return `undone: turn ${entry.turns.join(', ')}`;
    case 'redo':
      return `redone: turn ${entry.turns.join(', ')}`;
    case 'pin':
      return `pinned: #${entry.message.id}`;
    case 'unpin':
      return `unpinned: ${entry.messages.map((id) => `#${id}`).join(', ')}`;
    case 'forgotten':
      return `forgotten: ${quantity(entry.forgotten_turns.length, 'turn')} and ${quantity(entry.forgotten_messages.length, 'message')}`;
    case 'unknown':
      return `${entry.what}, which this version of hi cannot read`;
  }
}

/** The words, tool calls and results of a message, in full and without a heading. */
export function fullText({ content }: Message): string {
  return content
    .map((part) => partText(part, (text) => text))
    .filter((text) => text !== '')
    .join('\n');
}

/** One entry as Markdown. */
export function markdownOf(entry: Entry, undone = NONE): string {
  if (!isMessage(entry)) return `\n*${transcriptOf(entry).trim()}*\n`;
  const body = shownParts(entry)
    .map((part) => partMarkdown(part, entry.role))
    .filter((text) => text !== '');
  if (entry.sources?.length) body.push(`Sources:\n\n${sourceMarkdown(entry.sources)}`);
  if (entry.stop_reason === 'interrupted') body.push('*interrupted*');
  if (body.length === 0) return '';
  return entry.role === 'tool'
    ? `\n${body.join('\n\n')}\n`
    : `\n## ${heading(entry, null, undone)}\n\n${body.join('\n\n')}\n`;
}

/** Who said it and when. */
export function heading({ role, at, model, turn, aside }: Message, now: Date | null, undone = NONE): string {
  const when = `${localMinute(at, now)}${aside ? ' · aside' : ''}${undone.has(turn) ? ' · undone' : ''}`;
  return role === 'user' ? `you · ${when}` : `${model ?? 'assistant'} · ${when}`;
}

/** The user's own command as it was typed, followed by its output. */
function asTyped(role: Message['role'], text: string): string {
  const own = role === 'user' ? commandIn(text) : null;
  return own === null ? text : `!${own.command}\n${own.printed}`.trimEnd();
}

function partText(part: Part, shown = shortened): string {
  switch (part.type) {
    case 'text':
      if (part.clock === true) return '';
      return part.recalled === undefined ? part.text : recalledLine([part]);
    case 'image':
    case 'document':
      return `[${part.type}: ${part.name ?? part.mime}, ${sizeText(part.bytes)}]`;
    case 'tool_call':
      return `[${part.name} ${shown(JSON.stringify(part.args))}]`;
    case 'tool_result':
      return `[${part.name}: ${shown(part.error ?? JSON.stringify(part.result))}]`;
    case 'thinking':
    case 'vendor':
      return '';
  }
}

/** A part of a message as Markdown; long results shortened. */
export function partMarkdown(part: Part, role: Message['role']): string {
  if (part.type === 'tool_call') return `\`${part.name}\`\n\n${fenced(JSON.stringify(part.args, null, 2), 'json')}`;
  if (part.type === 'tool_result') return fenced(shortened(part.error ?? JSON.stringify(part.result)));
  const text = partText(part);
  const typed = asTyped(role, text);
  return typed === text ? text : fenced(typed);
}

/** A text as a code block, between fences that are longer than any in it. */
function fenced(text: string, language = ''): string {
  let fence = '```';
  for (const [marks] of text.matchAll(/^[ \t]*`{3,}/gm))
    if (marks.trim().length >= fence.length) fence = `${marks.trim()}\``;
  return `${fence}${language}\n${text}\n${fence}`;
}

function shortened(text: string): string {
  return text.length <= SHOWN_LENGTH ? text : `${firstCharacters(text, SHOWN_LENGTH)}… (${text.length} characters)`;
}
