import type { Entry } from '../chat/entry.js';
import { localMinute, localTime } from '../chat/text/local-time.js';
import { entryHtml } from './entry-html.js';
import { escaped, harmless } from './escape.js';
import { POLICY, SCRIPT, STYLE } from './page-parts.js';
import type { ReadAttachment } from './part-html.js';

/** The content of a page. */
export interface PageContent {
  /** In the order in which they are shown. */
  readonly entries: AsyncIterable<Entry> | Iterable<Entry>;
  readonly read: ReadAttachment;
  readonly now: Date;
}

/**
 * The conversation as one self-contained page with search, days, both themes and pictures. It is generated entry by entry, so that the longest
 * conversation takes no more memory than its largest message.
 */
export async function* conversationPage({ entries, read, now }: PageContent): AsyncGenerator<string> {
  yield HEAD;
  const parts = new Parts();
  for await (const entry of entries) {
    const html = await entryHtml(entry, read);
    if (html !== '') yield parts.before(entry, html.length) + html;
  }
  yield parts.end() + tail(now);
}

/** The size limits of a part. */
const LONGEST_PART = { entries: 40, characters: 400_000 };

/** Writes what comes between the entries of a page: the days, and their parts, which the browser unpacks one by one. */
class Parts {
  #day: string | null = null;
  #end = '';
  #entries = 0;
  #characters = 0;

  /** The HTML before an entry of this length. */
  before(entry: Entry, characters: number): string {
    // A mark does not start a day: a compaction may be written long after the messages around it.
    const day: string = 'type' in entry && this.#day !== null ? this.#day : dayOf(entry.at);
    const isNewDay = day !== this.#day;
    const isFull = this.#entries >= LONGEST_PART.entries || this.#characters >= LONGEST_PART.characters;
    let between = '';
    if (isNewDay || isFull) {
      between = this.#end;
      if (isNewDay) between += (this.#day === null ? '' : '</section>\n') + sectionStart(day, entry.at);
      // The first part is shown at once.
      const isPacked = this.#day !== null;
      between += isPacked ? '<div class="part"><noscript>\n' : '<div class="part">\n';
      this.#end = isPacked ? '</noscript></div>\n' : '</div>\n';
      this.#entries = this.#characters = 0;
    }
    this.#day = day;
    this.#entries += 1;
    this.#characters += characters;
    return between;
  }

  end(): string {
    return this.#day === null ? '<p>No messages.</p>\n' : `${this.#end}</section>\n`;
  }
}

/** The day in local time, as shown on the page. */
function dayOf(at: string): string {
  return isTime(at) ? localTime(at).slice(0, -' 00:00'.length) : at;
}

const isTime = (at: string): boolean => !Number.isNaN(Date.parse(at));

function sectionStart(day: string, at: string): string {
  const month = isTime(at) ? day.split(' ').slice(-2).join(' ') : '';
  return harmless(`<section data-month="${escaped(month)}">\n<h2 tabindex="-1">${escaped(day)}</h2>\n`);
}

const HEAD = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escaped(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="hi">
<title>Conversation</title>
<style>${STYLE}</style>
</head>
<body>
<header><div class="bar">
<h1>Conversation</h1>
<div id="tools" role="search" hidden>
<output id="found"></output>
<input id="search" type="search" placeholder="Search" aria-label="Search" autocomplete="off" spellcheck="false">
<button id="previous" type="button" title="Previous result" disabled><span aria-hidden="true">↑</span></button>
<button id="next" type="button" title="Next result" disabled><span aria-hidden="true">↓</span></button>
<select id="day" aria-label="Go to a day"><option>Go to a day…</option></select>
<button id="theme" type="button">Dark</button>
</div>
</div></header>
<main>
`;

const tail = (now: Date): string => `</main>
<footer><span id="count"></span>Exported by hi, ${localMinute(now.toISOString())}.</footer>
<script>${SCRIPT}</script>
</body>
</html>
`;
