import {
  type CompressBlock,
  type Entry,
  isCompressBlock,
  isMessage,
  type Mark,
  type UnknownEntry,
} from '../chat/entry.js';
import type { Message } from '../chat/message.js';
import { asSource, type Source } from '../chat/source.js';
import { localMinute } from '../chat/text/local-time.js';
import { transcriptOf } from '../chat/transcript.js';
import { escaped, harmless } from './escape.js';
import { linkStart, markdownHtml } from './markdown-html.js';
import { partHtml, type ReadAttachment } from './part-html.js';

/** An entry of the history as HTML; empty if it has nothing to show. */
export async function entryHtml(entry: Entry, read: ReadAttachment): Promise<string> {
  if (isMessage(entry)) return await messageHtml(entry, read);
  return harmless(isCompressBlock(entry) ? await compactionHtml(entry) : markHtml(entry));
}

async function messageHtml(message: Message, read: ReadAttachment): Promise<string> {
  const { id, turn, role, content, sources, stop_reason } = message;
  const parts: string[] = [];
  for (const part of content) parts.push(await partHtml(part, role, read));
  if (sources?.length) parts.push(sourcesHtml(sources));
  if (stop_reason === 'interrupted') parts.push('<p class="note">interrupted</p>');
  const body = parts.filter((part) => part !== '').join('\n');
  if (body === '') return '';
  const heading = role === 'tool' ? '' : `${headingHtml(message)}\n`;
  return harmless(
    `<article id="m${id}" data-turn="${turn}" class="${role}">\n${heading}<div class="body">${body}</div>\n</article>\n`,
  );
}

function headingHtml({ id, role, at, model }: Message): string {
  const who = role === 'user' ? 'you' : (model ?? 'assistant');
  const minute = localMinute(at);
  const clock = /^\d{4,}-\d\d-\d\d \d\d:\d\d$/.test(minute) ? minute.slice(-5) : minute;
  return `<h3>${escaped(who)} <a href="#m${id}"><time datetime="${escaped(at)}">${escaped(clock)}</time></a></h3>`;
}

function sourcesHtml(sources: readonly Source[]): string {
  const items = sources.map(({ url, title }) => {
    const words = escaped(title ?? url);
    return asSource(url) === null ? `<li>${words}</li>` : `<li>${linkStart(url)}${words}</a></li>`;
  });
  return `<div class="sources"><p>Sources</p><ol>${items.join('')}</ol></div>`;
}

/** The line of a compaction and, folded under it, the summary that replaces the messages above. */
async function compactionHtml(block: CompressBlock): Promise<string> {
  const line = lineOf(block);
  if (block.content.trim() === '') return `<p class="mark">${line}</p>\n`;
  return `<details class="mark"><summary>${line}</summary>\n<div class="body">${await markdownHtml(block.content)}</div></details>\n`;
}

function markHtml(entry: Mark | UnknownEntry): string {
  const turns = entry.type === 'undo' || entry.type === 'redo' ? entry.turns.map(Number).join(' ') : '';
  const what = turns === '' ? '' : ` data-${entry.type === 'undo' ? 'undone' : 'redone'}="${turns}"`;
  return `<p class="mark"${what}>${lineOf(entry)}</p>\n`;
}

/** The line of the transcript in one element, without the dashes, which the page draws itself. */
function lineOf(entry: Entry): string {
  return `<span>${escaped(
    transcriptOf(entry)
      .trim()
      .replace(/^── | ──$/g, ''),
  )}</span>`;
}
