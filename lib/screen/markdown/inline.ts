import {
  BOLD,
  CYAN,
  combine,
  DIM,
  ITALIC,
  linked,
  linkTarget,
  PLAIN,
  STRUCK,
  type Style,
  type StyledText,
  UNDERLINE,
} from '../text/styled-text.js';
import { characterAt, type EmphasisMark, flanking, isCodeClosed, isEmphasisClosed } from './emphasis.js';

/** Emphasis that is not closed yet. */
interface Emphasis {
  readonly mark: string;
  readonly length: number;
  readonly style: Style;
}

/** Characters that may have a meaning, and an `h` that may start an address. */
const SPECIAL = /[\n\\`*_~\]|]|h(?=t(?:t(?:p|$)|$)|$)/g;
/** The same, and characters that may start a link. */
const SPECIAL_OR_LINK = /[\n\\`*_~\]|[]|h(?=t(?:t(?:p|$)|$)|$)/g;
const URL_END = /[\s<>"'`)\]]/g;
const SCHEMES = ['https://', 'http://'];

/**
 * Styles the inside of a line: emphasis, code, links. The marks stay, dimmed. Written text cannot be restyled, so a
 * mark waits until its closing mark has arrived. If its line has none, it is plain text.
 */
export class Inline {
  readonly #styled: StyledText;
  readonly #hasLinks: boolean;
  readonly #special: RegExp;
  #base: Style = PLAIN;
  #isTable = false;
  #open: Emphasis[] = [];
  /** The number of backticks that opened the code; 0 outside code. */
  #ticks = 0;
  /** `bracketed` ends at a parenthesis, `bare` at white space. */
  #url: 'none' | 'bracketed' | 'bare' = 'none';
  #style: Style = PLAIN;
  /** The target of the link being written; null outside a link. */
  #link: string | null = null;
  /** The last character written. */
  #previous = '\n';

  /** With `links`, addresses and link texts become links of the terminal (OSC 8). */
  constructor(styled: StyledText, links = false) {
    this.#styled = styled;
    this.#hasLinks = links;
    this.#special = links ? SPECIAL_OR_LINK : SPECIAL;
  }

  /** Starts a line; `previous` is the character before its text. */
  begin(base: Style, isTable: boolean, previous: string): void {
    this.#base = base;
    this.#isTable = isTable;
    this.#previous = previous;
    this.#open = [];
    this.#ticks = 0;
    this.#url = 'none';
    this.#link = null;
    this.#restyle();
  }

  /**
   * Writes the text from `from` to a newline or the end, and returns how far it got. It stops earlier if the meaning of
   * the rest depends on what follows, unless nothing follows (`isLast`).
   */
  scan(text: string, from: number, isLast: boolean): number {
    let at = from;
    while (at < text.length) {
      if (this.#url !== 'none') {
        at = this.#scanUrl(text, at);
        continue;
      }
      this.#special.lastIndex = at;
      const next = this.#special.exec(text)?.index ?? text.length;
      this.#putText(text.slice(at, next));
      at = next;
      if (at === text.length || text[at] === '\n') return at;
      const end = this.#scanSpecial(text, at, isLast);
      if (end === at) return at;
      at = end;
    }
    return at;
  }

  /** Writes what starts at `at`. Returns where it ends, or `at` itself to wait for more text. */
  #scanSpecial(text: string, at: number, isLast: boolean): number {
    const mark = text[at] ?? '';
    switch (mark) {
      case '`':
        return this.#scanTicks(text, at, isLast);
      case '\\':
        if (this.#ticks > 0) return this.#literal(text, at, at + 1);
        if (at + 1 === text.length && !isLast) return at;
        return this.#literal(text, at, /[!-/:-@[-`{-~]/.test(text[at + 1] ?? '') ? at + 2 : at + 1);
      case ']':
        if (this.#ticks > 0) return this.#literal(text, at, at + 1);
        if (at + 1 === text.length && !isLast) return at;
        if (text[at + 1] !== '(') return this.#literal(text, at, at + 1);
        this.#put('](', DIM);
        this.#url = 'bracketed';
        return at + 2;
      case '[':
        return this.#scanBracket(text, at, isLast);
      case 'h':
        return this.#scanScheme(text, at, isLast);
      case '|':
        return this.#bar(at);
      default:
        return this.#ticks > 0 ? this.#literal(text, at, at + 1) : this.#scanEmphasis(text, at, isLast);
    }
  }

  #scanTicks(text: string, at: number, isLast: boolean): number {
    const end = endOfRun(text, at);
    if (end === text.length && end - at < LONGEST_RUN && !isLast) return at;
    const length = end - at;
    const isClosed = this.#ticks === 0 ? isCodeClosed(text, end, length, isLast) : this.#ticks === length;
    if (isClosed === null) return at;
    if (!isClosed) return this.#literal(text, at, end);
    this.#put(text.slice(at, end), combine(this.#base, DIM));
    this.#ticks = this.#ticks === 0 ? length : 0;
    this.#restyle();
    return end;
  }

  /** Follows CommonMark's flanking rules, with the run as a whole. */
  #scanEmphasis(text: string, at: number, isLast: boolean): number {
    const end = endOfRun(text, at);
    if (end === text.length && end - at < LONGEST_RUN && !isLast) return at;
    const mark = text[at] as EmphasisMark;
    const length = end - at;
    const { canOpen, canClose } = flanking(mark, this.#previous, characterAt(text, end));
    const opener = this.#open.findLastIndex((open) => open.mark === mark && open.length <= length);
    if (canClose && opener !== -1) return this.#close(text, at, end, opener);
    if (!canOpen || length > 3 || (mark === '~' && length !== 2)) return this.#literal(text, at, end);
    const isClosed = isEmphasisClosed(text, end, { mark, length }, isLast);
    if (isClosed === null) return at;
    if (!isClosed) return this.#literal(text, at, end);
    this.#put(text.slice(at, end), combine(this.#base, DIM));
    if (mark === '~') this.#open.push({ mark, length: 2, style: STRUCK });
    if (mark !== '~' && length !== 1) this.#open.push({ mark, length: 2, style: BOLD });
    if (mark !== '~' && length !== 2) this.#open.push({ mark, length: 1, style: ITALIC });
    this.#restyle();
    return end;
  }

  /**
   * Closes emphasis from the inside out, up to the length of the run. Emphasis opened inside it and never closed ends
   * too.
   */
  #close(text: string, at: number, end: number, opener: number): number {
    let left = end - at;
    let index = opener;
    while (index !== -1 && left > 0) {
      left -= this.#open[index]?.length ?? 0;
      this.#open.length = index;
      const room = left;
      index = this.#open.findLastIndex((open) => open.mark === text[at] && open.length <= room);
    }
    this.#put(text.slice(at, end), combine(this.#base, DIM));
    this.#restyle();
    return end;
  }

  #scanScheme(text: string, at: number, isLast: boolean): number {
    if (this.#ticks > 0 || /[\p{L}\p{N}]/u.test(this.#previous)) return this.#literal(text, at, at + 1);
    const rest = text.slice(at, at + 8);
    if (SCHEMES.some((scheme) => rest.startsWith(scheme))) return this.#scanBareUrl(text, at, isLast);
    if (!isLast && SCHEMES.some((scheme) => scheme.startsWith(rest))) return at;
    return this.#literal(text, at, at + 1);
  }

  /** With `links`, waits for the end of the address, which is part of the link's target. */
  #scanBareUrl(text: string, at: number, isLast: boolean): number {
    URL_END.lastIndex = at;
    const end = URL_END.exec(text)?.index ?? text.length;
    if (this.#hasLinks && end === text.length && !isLast && end - at < LONGEST_ADDRESS) return at;
    this.#url = 'bare';
    if (this.#hasLinks && this.#link === null) this.#link = linkTarget(text.slice(at, end).replace(/[.,;:!?]$/, ''));
    return this.#scanUrl(text, at);
  }

  /** The text of a link waits for the link's target. */
  #scanBracket(text: string, at: number, isLast: boolean): number {
    if (this.#ticks === 0 && this.#link === null) {
      const address = addressAfter(text, at, isLast);
      if (address === null) return at;
      this.#link = linkTarget(address);
    }
    return this.#literal(text, at, at + 1);
  }

  #scanUrl(text: string, at: number): number {
    URL_END.lastIndex = at;
    const end = this.#url === 'bracketed' ? endOfBracketed(text, at) : (URL_END.exec(text)?.index ?? text.length);
    this.#put(
      text.slice(at, end),
      combine(this.#style, this.#url === 'bracketed' ? combine(DIM, UNDERLINE) : UNDERLINE),
    );
    if (end === text.length) return end;
    const isClosed = this.#url === 'bracketed' && text[end] === ')';
    this.#url = 'none';
    if (isClosed) this.#put(')', DIM);
    this.#link = null;
    return isClosed ? end + 1 : end;
  }

  /** A bar may turn this line and the next into a table: what follows waits for the next line. */
  #bar(at: number): number {
    if (this.#ticks === 0) this.#styled.hold();
    this.#put('|', this.#isTable && this.#ticks === 0 ? DIM : this.#style);
    return at + 1;
  }

  #literal(text: string, at: number, end: number): number {
    this.#putText(text.slice(at, end));
    return Math.min(end, text.length);
  }

  /** Writes text that is neither a mark nor an address. */
  #putText(text: string): void {
    if (text === '') return;
    const style = this.#link === null ? this.#style : linked(this.#style, this.#link);
    if (this.#ticks > 0) this.#styled.put(text, style);
    else this.#styled.putProse(text, style);
    this.#previous = lastCharacter(text);
  }

  #put(text: string, style: Style): void {
    if (text === '') return;
    this.#styled.put(text, this.#link === null ? style : linked(style, this.#link));
    this.#previous = lastCharacter(text);
  }

  #restyle(): void {
    const emphasis = this.#open.reduce((style, open) => combine(style, open.style), this.#base);
    this.#style = this.#ticks > 0 ? combine(this.#base, CYAN) : emphasis;
  }
}

/** A longer text is not taken for an address, in characters. */
const LONGEST_ADDRESS = 2000;

/** How far to look for the end of a link's text and address, in characters. At most this much text waits for it. */
const LONGEST_LINK = 500;

/** A longer run of marks counts as several, in characters. */
const LONGEST_RUN = 500;

/** Where the run of marks that starts at `at` ends. */
function endOfRun(text: string, at: number): number {
  let end = at + 1;
  while (end - at < LONGEST_RUN && text[end] === text[at]) end += 1;
  return end;
}

/** The address of the link that starts at a bracket: empty if there is no link, null while that is not known. */
function addressAfter(text: string, at: number, isLast: boolean): string | null {
  const ahead = text.slice(at + 1, at + LONGEST_LINK).split('\n', 1)[0] ?? '';
  const isComplete = isLast || ahead.length < text.length - at - 1;
  const unknown = isComplete ? '' : null;
  const close = ahead.search(/[[\]]/);
  if (close === -1 || close + 1 === ahead.length) return unknown;
  if (!ahead.startsWith('](', close)) return '';
  const end = ahead.indexOf(')', close);
  return end === -1
    ? unknown
    : (ahead
        .slice(close + 2, end)
        .trim()
        .split(/\s/, 1)[0] ?? '');
}

/** Where an address in parentheses ends. */
function endOfBracketed(text: string, at: number): number {
  const found = text.slice(at).search(/[)\n]/);
  return found === -1 ? text.length : at + found;
}

/** The last character of a text. */
function lastCharacter(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xdc00 && last <= 0xdfff ? text.slice(-2) : text.slice(-1);
}
