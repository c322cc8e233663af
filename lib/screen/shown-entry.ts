import { type Entry, isCompressBlock, isMessage, REST } from '../chat/entry.js';
import type { KeptEntry, TextSpan } from '../chat/event.js';
import { type BodyPart, bodyOf, entryLine, heading, summaryOf } from '../chat/transcript.js';
import { type AnswerStyle, renderMarkdown, wrapWords } from './answer-writer.js';
import { wrapLines } from './print.js';
import { neutralise } from './text/neutralise.js';
import { BOLD, CYAN, combine, DIM, paint } from './text/styled-text.js';

/** Finds what stands out in a text. */
export type FindHits = (text: string) => readonly TextSpan[];

/**
 * An entry of the history as an answer looks while it arrives: its Markdown styled and wrapped, code in colour, with a
 * coloured heading. What others wrote is neutralised. Ends with a newline; empty if the entry has no text.
 */
export async function shownEntry(
  { entry, now, undone, hasId = false }: KeptEntry,
  style: AnswerStyle,
  hits: FindHits | null = null,
): Promise<string> {
  const id = hasId ? `#${entry.id} · ` : '';
  if (!isMessage(entry)) return await shownMark(entry, id, style);
  const parts = bodyOf(entry);
  if (parts.length === 0) return '';
  const body: string[] = [];
  for (const part of parts) body.push(await shownPart(entry.role, part, style));
  const text = body.join('');
  const marked = hits === null || !style.colour ? text : highlighted(text, hits);
  if (entry.role === 'tool') return `${id}${marked}`;
  const head = neutralise(`${id}${heading(entry, now, undone)}`);
  return `${painted(head, entry.role === 'user' ? combine(BOLD, CYAN) : CYAN, style)}\n${marked}`;
}

/** A line of what was done, followed by the summary that replaced messages. */
async function shownMark(entry: Exclude<Entry, { role: string }>, id: string, style: AnswerStyle): Promise<string> {
  const line = `${painted(wrapped(neutralise(`${id}${entryLine(entry)}`), style), DIM, style)}\n`;
  const summary = isCompressBlock(entry) && (id !== '' || entry.strategy !== REST) ? summaryOf(entry) : '';
  return summary === '' ? line : line + ended(await renderMarkdown(neutralise(summary), style));
}

async function shownPart(role: string, { kind, text }: BodyPart, style: AnswerStyle): Promise<string> {
  const safe = neutralise(text);
  if (kind === 'note') return `${painted(wrapped(safe, style), role === 'tool' ? '' : DIM, style)}\n`;
  // The output of a command has its own lines, and what the user typed stays as it was typed.
  if (kind === 'output') return ended(safe);
  return ended(role === 'user' ? wrapWords(safe, style) : await renderMarkdown(safe, style));
}

const ended = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);

const painted = (text: string, look: string, { colour }: AnswerStyle): string => (colour ? paint(text, look) : text);

function wrapped(text: string, { wrap, columns }: AnswerStyle): string {
  return wrap() === 'word' ? wrapLines(text, columns()) : text;
}

/** What does not show: styles and links. */
const SEQUENCES = /(\x1b(?:\[[\d;]*m|\]8;;[^\x1b]*\x1b\\))/g;

const INVERSE_ON = '\x1b[7m';
const INVERSE_OFF = '\x1b[27m';

/** The styled text with what is found in it in inverse video, row by row. */
function highlighted(text: string, hits: FindHits): string {
  const spans = hits(text.replaceAll(SEQUENCES, ''));
  if (spans.length === 0) return text;
  let [result, isOn, at, next] = ['', false, 0, 0];
  for (const piece of text.split(SEQUENCES)) {
    if (piece.startsWith('\x1b')) {
      // A style ends the one before it.
      result += piece + (isOn && piece.endsWith('m') ? INVERSE_ON : '');
      continue;
    }
    for (const character of piece.split('')) {
      while (at >= (spans[next]?.end ?? Number.POSITIVE_INFINITY)) next += 1;
      const isHit = character !== '\n' && at >= (spans[next]?.start ?? Number.POSITIVE_INFINITY);
      if (isHit !== isOn) result += isHit ? INVERSE_ON : INVERSE_OFF;
      isOn = isHit;
      result += character;
      at += 1;
    }
  }
  return isOn ? result + INVERSE_OFF : result;
}
