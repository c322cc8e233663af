/** Escapes within escapes are looked through so many times: JSON in a string of JSON in a string. */
const LEVELS = 4;

/**
 * A long content is looked through piece by piece, since a regular expression over millions of letters fails. In
 * characters; a match may span two pieces.
 */
const WINDOW = 512 * 1024;
const OVERLAP = 64 * 1024;

/**
 * Tells whether a content has a text, in whatever form: in letters of either case and of full or half width, with any
 * white space between its words, with invisible characters in it, escaped as in JSON or in an address, or within
 * base64.
 */
export function occurrenceOf(text: string): (content: string) => boolean {
  const wanted = folded(text);
  const shortest = Math.max(8, Math.floor((Buffer.byteLength(text) * 4) / 3) - 2);
  const has = (content: string): boolean => folded(content).includes(wanted);
  const overlap = Math.max(OVERLAP, 64 * text.length);
  const isIn = (part: string): boolean => {
    let read = part;
    for (let level = 0; level < LEVELS; level += 1) {
      if (
        has(read) ||
        unwrapped(read)
          .match(/[A-Za-z0-9+/_-]{8,}/g)
          ?.some((run) => run.length >= shortest && decodings(run).some(has))
      )
        return true;
      const next = unescaped(read);
      if (next === read) return false;
      read = next;
    }
    return false;
  };
  return (content) => {
    const whole = content.length > WINDOW ? content.replace(/\s{64,65536}/g, ' ') : content;
    const window = Math.max(WINDOW, 2 * overlap);
    for (let at = 0; ; at += window - overlap) {
      if (isIn(whole.slice(at, at + window))) return true;
      if (at + window >= whole.length) return false;
    }
  };
}

/**
 * By way of capitals: ß and ss are the same letters there. İ becomes an i with a dot above. A text of invisible
 * characters only stays as it is.
 */
function folded(text: string): string {
  const lower = PLAIN.test(text) ? text.toLowerCase() : withoutForms(text);
  return lower.replace(/\s+/g, ' ').trim();
}

const PLAIN = /^[\0-\x7f]*$/;

function withoutForms(text: string): string {
  const lower = text.normalize('NFKC').toUpperCase().toLowerCase().replaceAll('i\u0307', 'i').normalize('NFC');
  const visible = lower.replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return visible.trim() === '' ? lower : visible;
}

/** Lines of base64 as one. */
function unwrapped(text: string): string {
  const lines = text.split('\n');
  const pieces = lines.map((line, index) => {
    const next = lines[index + 1];
    const own = line.endsWith('\r') ? line.slice(0, -1) : line;
    const isWrapped = next !== undefined && /^[A-Za-z0-9+/]/.test(next) && /^[A-Za-z0-9+/]{60}$/.test(own.slice(-60));
    if (isWrapped) return own;
    return next === undefined ? line : `${line}\n`;
  });
  return pieces.join('');
}

/** What a run of letters decodes to: where in it base64 begins is not known. */
const decodings = (run: string): readonly string[] =>
  [0, 1, 2, 3].map((from) => Buffer.from(run.slice(from), 'base64').toString());

function unescaped(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|([\s\S]))|((?:%[0-9a-fA-F]{2})+)/g,
    (all, unit?: string, one?: string, address?: string) => {
      if (unit !== undefined) return String.fromCharCode(Number.parseInt(unit, 16));
      if (one !== undefined) return /[nrtbf]/.test(one) ? ' ' : one;
      return fromAddress(address ?? all);
    },
  );
}

function fromAddress(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What to forget: everything that contains a text, some messages, or everything since a time. */
export type ForgetOrder =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'messages'; readonly ids: readonly number[] }
  | { readonly kind: 'since'; readonly from: Date };
