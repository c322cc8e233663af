import type { JsonObject } from '../../chat/json.js';
import type { ForeignMessage, Source } from '../common/book-source.js';
import { objectsIn } from '../input/objects.js';
import { objectsOf, textIn, timeOf } from './fields.js';

/**
 * The activity log of Gemini from Google Takeout (My Activity, Gemini Apps, as JSON). It has no conversations: each
 * record is a prompt with its answer, and stands alone. Its words before the prompt are in the user's language; those
 * in English are left out.
 */
export const gemini: Source = {
  name: 'gemini',
  title: 'Gemini',
  places: () => [],
  recognises: (sample) =>
    sample.form === 'json' &&
    typeof sample.first.title === 'string' &&
    typeof sample.first.time === 'string' &&
    /gemini|bard/i.test(`${JSON.stringify(sample.first.products ?? '')} ${textIn(sample.first, 'header')}`),
  async *threads(file, reading) {
    for await (const { value } of objectsIn(file, reading)) {
      const messages = messagesOf(value);
      if (messages.length > 0)
        yield { id: `${textIn(value, 'time')} ${textIn(value, 'title').slice(0, 80)}`, messages };
      else reading.leaveOut('records of other activity');
    }
  },
};

const PROMPTED = /^(?:Prompted|Said|Asked(?: Gemini| Bard)?)\s/;

function messagesOf(record: JsonObject): readonly ForeignMessage[] {
  const at = timeOf(record.time);
  const title = textIn(record, 'title');
  const answer = objectsOf(record, 'safeHtmlItem')
    .map(({ html }) => (typeof html === 'string' ? textOfHtml(html) : ''))
    .filter((text) => text !== '')
    .join('\n\n');
  if (answer === '' && !PROMPTED.test(title)) return [];
  const text = title.replace(PROMPTED, '');
  const said = { id: 'answer', at, role: 'assistant', content: [{ type: 'text', text: answer }] } as const;
  return [
    ...(text === '' ? [] : [{ id: 'prompt', at, role: 'user', content: [{ type: 'text', text }] } as const]),
    ...(answer === '' ? [] : [said]),
  ];
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** The words of a piece of HTML, a line for each of its blocks, and code as it is. */
function textOfHtml(html: string): string {
  const [first = '', ...rest] = html.split(/<\/?pre\b[^<>]*>/i);
  return rest.reduce((text, piece, at) => `${text}\n${at % 2 ? linesOf(piece) : plain(piece)}`, linesOf(first)).trim();
}

const linesOf = (html: string): string =>
  plain(
    html
      .replace(/\s+/g, ' ')
      .replace(/<li\b[^<>]*>/gi, '\n- ')
      .replace(/<(?:br|\/p|\/div|\/li|\/h[1-6]|\/tr|\/ul|\/ol)\b[^<>]*>/gi, '\n'),
  )
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();

/** The words without elements. */
const plain = (html: string): string =>
  html
    .replace(/<[^<>]*>/g, '')
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,6}));/gi, (whole, decimal, hex, name) => {
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      if (name !== undefined) return ENTITIES[name] ?? whole;
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    });
