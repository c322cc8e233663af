/** Words by which a server says that it does not accept part of a request. */
const REASON =
  /unsupported|unrecogni[sz]ed|unknown|unexpected|(?:not|n['’]t|no) (?:be |yet ){0,2}(?:support|accept|allow|permit|enabled|available|take)|cannot (?:take|accept|use|process)|invalid/i;

/** Words about an address, a network or a browser. */
const ABOUT_ADDRESS =
  /\b(?:url|uri|path|route|page|resource|host|domain|endpoint|method|address|browser|javascript)\b/i;

/** The HTML elements that do not end a sentence. */
const INLINE: ReadonlySet<string> = new Set(['a', 'b', 'code', 'em', 'i', 'kbd', 'span', 'strong', 'tt']);

/** Marks the end of a sentence. It does not occur in pages. */
const BREAK = '\u0000';

/** The first sentence on a web page that says what the server does not accept, or null. Some proxies put a server's error into a page. */
export function reasonOnPage(page: string): string | null {
  let text = '';
  for (const piece of page.split('<').slice(1)) {
    const end = piece.indexOf('>');
    const name = /^\/?([a-z0-9]{0,20})/i.exec(piece)?.[1]?.toLowerCase() ?? '';
    if (!INLINE.has(name)) text += BREAK;
    if (end >= 0 && !((name === 'script' || name === 'style') && !piece.startsWith('/'))) text += piece.slice(end + 1);
  }
  const sentences = text.split(BREAK).map((sentence) => plain(sentence));
  return sentences.find((sentence) => REASON.test(sentence) && !ABOUT_ADDRESS.test(sentence)) ?? null;
}

const plain = (text: string): string =>
  text
    .replace(/&(?:quot|#34|#x22);/gi, '"')
    .replace(/&(?:apos|#39|#x27);/gi, "'")
    .replace(/&amp;/gi, '&')
    .trim();
