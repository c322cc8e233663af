/** Words by which a server says that it does not take something of what was sent. */
const REASON =
  /unsupported|unrecogni[sz]ed|unknown|unexpected|(?:not|n['’]t|no) (?:be |yet ){0,2}(?:support|accept|allow|permit|enabled|available|take)|cannot (?:take|accept|use|process)|invalid/i;

/** What pages say of an address, a network or a browser. */
const OF_THE_PLACE = /\b(?:url|uri|path|route|page|resource|host|domain|endpoint|method|address|browser|javascript)\b/i;

/** What stands in the middle of a sentence. */
const INLINE: ReadonlySet<string> = new Set(['a', 'b', 'code', 'em', 'i', 'kbd', 'span', 'strong', 'tt']);

/** The end of a sentence on a page: no page has it in its text. */
const BREAK = '\u0000';

/** The first words on a page for people that tell what of the request is not taken; null where there are none. Some proxies put the error of a server into a page. */
export function reasonOnPage(page: string): string | null {
  let text = '';
  for (const piece of page.split('<').slice(1)) {
    const end = piece.indexOf('>');
    const name = /^\/?([a-z0-9]{0,20})/i.exec(piece)?.[1]?.toLowerCase() ?? '';
    if (!INLINE.has(name)) text += BREAK;
    if (end >= 0 && !((name === 'script' || name === 'style') && !piece.startsWith('/'))) text += piece.slice(end + 1);
  }
  const sentences = text.split(BREAK).map((sentence) => plain(sentence));
  return sentences.find((sentence) => REASON.test(sentence) && !OF_THE_PLACE.test(sentence)) ?? null;
}

const plain = (text: string): string =>
  text
    .replace(/&(?:quot|#34|#x22);/gi, '"')
    .replace(/&(?:apos|#39|#x27);/gi, "'")
    .replace(/&amp;/gi, '&')
    .trim();
