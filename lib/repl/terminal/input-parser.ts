import { emitKeypressEvents, type Key } from 'node:readline';
import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** Receives what the terminal's bytes mean. */
interface InputHandler {
  /** A key as `node:readline` decodes it. `text` is what it inserts, empty for keys that insert nothing. */
  key(text: string, key: Key): void;
  /** The Escape key by itself. */
  escape(): void;
  /** A whole bracketed paste. Its newlines are `\n`, or `\r\n` where that was copied. */
  paste(text: string): void;
  /** The terminal's answer to `BACKGROUND_QUERY`, whenever it comes; absent if nothing was asked. */
  background?(colour: string): void;
  /** All input that arrived together was reported; time to draw. */
  settled(): void;
}

/** How many characters of an answer are kept. */
const LONGEST_REPLY = 100;
/** How long the rest of an answer of the terminal may take, in milliseconds. */
const REPLY_TIMEOUT = 1000;

/** The key pressed twice in quick succession. */
const ESCAPE_TWICE = '\x1b\x1b';

/** After this long, an Escape is the key and not the start of a sequence. Milliseconds. */
const ESCAPE_TIMEOUT = 50;
/** After this long without input, an open paste has lost its end marker. Milliseconds. */
const PASTE_TIMEOUT = 1000;

/**
 * Decodes a terminal's input, which may be split anywhere. Pastes bypass key decoding, so nothing in them can act as a
 * key.
 */
export class InputParser {
  #handler: InputHandler;
  readonly #decoder = new StringDecoder('utf8');
  readonly #keys = new Readable({ read() {} });
  /** Input that may be the start of a sequence or marker. */
  #pending = '';
  /** The parts of the paste being read; null outside a paste. */
  #paste: string[] | null = null;
  /** Whether a paste timed out and its end marker may still arrive. */
  #isEndMissing = false;
  #timer: NodeJS.Timeout | undefined;
  #hasReported = false;
  #onAttributes: ((attributes: string) => void) | null = null;
  /** Whether the terminal was asked for its background and has not answered yet. */
  #awaitsReply: boolean;
  /** Whether the last key reported is an Escape that may have been the start of that answer. */
  #isAfterEscape = false;

  constructor(handler: InputHandler) {
    this.#handler = handler;
    this.#awaitsReply = handler.background !== undefined;
    emitKeypressEvents(this.#keys);
    this.#keys.on('keypress', (text: string | undefined, key: Key) => {
      this.#hasReported = true;
      this.#handler.key(text ?? '', key);
    });
  }

  write(bytes: Buffer | string): void {
    clearTimeout(this.#timer);
    const input = typeof bytes === 'string' ? bytes : this.#decoder.write(bytes);
    const isRest = this.#isAfterEscape && input.startsWith(REPLY_START.slice(1));
    const text = isRest ? `\x1b${input}` : this.#pending + input;
    this.#pending = '';
    this.#isAfterEscape = false;
    if (this.#paste !== null && text === '\x03') {
      this.#endPasteWithoutMarker();
      this.#readKeys(text);
    } else if (this.#paste !== null) this.#readPaste(this.#paste, text);
    else if (this.#isEndMissing) this.#readAfterLostEnd(text);
    else this.#readKeys(text);
    this.#settle();
  }

  /** Takes the answer to `ATTRIBUTES_QUERY` out of the keys, whenever it comes. */
  expectAttributes(onReply: (attributes: string) => void): void {
    this.#onAttributes = onReply;
  }

  /** From now on, reports only the terminal's answers. */
  ignoreKeys(): void {
    const { background } = this.#handler;
    const ignore = (): void => {};
    this.#handler = { key: ignore, escape: ignore, paste: ignore, settled: ignore, ...(background && { background }) };
  }

  /** Stops the timer and drops incomplete input. */
  close(): void {
    clearTimeout(this.#timer);
    this.#keys.destroy();
  }

  #readKeys(text: string): void {
    if (this.#onAttributes !== null && this.#readAttributes(text, this.#onAttributes)) return;
    if (text === ESCAPE_TWICE) {
      this.#hasReported = true;
      this.#handler.escape();
      this.#pending = text.slice(1);
      this.#after(ESCAPE_TIMEOUT, () => this.#readPending());
      return;
    }
    const reply = this.#handler.background === undefined ? -1 : text.indexOf(REPLY_START);
    const start = text.indexOf(PASTE_START);
    if (reply !== -1 && (start === -1 || reply < start)) {
      this.#readReply(text, reply);
      return;
    }
    if (start !== -1) {
      this.#readKeys(text.slice(0, start));
      this.#paste = [];
      this.#isEndMissing = false;
      this.#readPaste(this.#paste, text.slice(start + PASTE_START.length));
      return;
    }
    const isReply = this.#handler.background !== undefined && partialMarkerLength(text, REPLY_START) > 1;
    const complete = this.#keepPartial(text, isReply ? REPLY_START : PASTE_START);
    // Emitted rather than written: a stream would report the keys after the paste that follows them.
    if (complete !== '') this.#keys.emit('data', complete);
    const timeout = isReply && this.#awaitsReply ? REPLY_TIMEOUT : ESCAPE_TIMEOUT;
    if (this.#pending !== '') this.#after(timeout, () => this.#readPending());
  }

  /** Handles a text that contains the answer or the start of it; false for any other text. */
  #readAttributes(text: string, onReply: (attributes: string) => void): boolean {
    const paste = text.indexOf(PASTE_START);
    const keys = paste === -1 ? text : text.slice(0, paste);
    const reply = attributesReply(keys);
    if (reply !== null) {
      this.#onAttributes = null;
      onReply(reply.attributes);
      this.#readKeys(reply.rest + text.slice(keys.length));
      return true;
    }
    const begin = paste === -1 ? attributesBegin(text) : -1;
    if (begin === -1) return false;
    this.#readKeys(text.slice(0, begin));
    this.#pending = text.slice(begin);
    this.#after(REPLY_TIMEOUT, () => {
      this.#pending = '';
    });
    return true;
  }

  /** Takes the terminal's answer out of the keys. Nobody types its start, so an answer without an end is dropped. */
  #readReply(text: string, at: number): void {
    this.#readKeys(text.slice(0, at));
    const reply = backgroundReply(text, at);
    if (reply === null) {
      this.#pending = text.slice(at, at + LONGEST_REPLY);
      this.#after(REPLY_TIMEOUT, () => {
        this.#pending = '';
      });
      return;
    }
    this.#awaitsReply = false;
    this.#handler.background?.(reply.colour);
    this.#readKeys(text.slice(reply.end));
  }

  /** Nothing came after an Escape or the start of a sequence: it was a key. */
  #readPending(): void {
    const text = this.#pending;
    this.#pending = '';
    if (text !== '\x1b') {
      this.#keys.emit('data', text);
      return;
    }
    this.#hasReported = true;
    this.#isAfterEscape = this.#awaitsReply;
    this.#handler.escape();
  }

  #readPaste(paste: string[], text: string): void {
    const end = findPasteEnd(text);
    if (end === -1) {
      paste.push(this.#keepPartial(text, PASTE_END));
      this.#after(PASTE_TIMEOUT, () => this.#endPasteWithoutMarker());
      return;
    }
    this.#reportPaste(paste.join('') + text.slice(0, end));
    this.#paste = null;
    this.#readKeys(text.slice(end + PASTE_END.length));
  }

  /** Reports the part of the paste that arrived. Later chunks of text still belong to it. */
  #endPasteWithoutMarker(): void {
    this.#reportPaste((this.#paste ?? []).join('') + this.#pending);
    this.#pending = '';
    this.#paste = null;
    this.#isEndMissing = true;
  }

  /** After a paste without an end marker, a chunk of text is the rest of the paste; a single character was typed. */
  #readAfterLostEnd(text: string): void {
    const end = text.indexOf(PASTE_END);
    if (end !== -1) {
      this.#isEndMissing = false;
      if (end > 0) this.#reportPaste(text.slice(0, end));
      this.#readKeys(text.slice(end + PASTE_END.length));
    } else if (text.length > 2 && !text.startsWith('\x1b')) {
      this.#reportPaste(text);
    } else {
      if (!text.startsWith('\x1b')) this.#isEndMissing = false;
      this.#readKeys(text);
    }
  }

  #reportPaste(text: string): void {
    this.#hasReported = true;
    this.#handler.paste(normaliseNewlines(text));
  }

  /** Keeps a possible start of the marker at the end of the text for the next chunk, and returns the text before it. */
  #keepPartial(text: string, marker: string): string {
    const end = text.length - partialMarkerLength(text, marker);
    this.#pending = text.slice(end);
    return text.slice(0, end);
  }

  #after(milliseconds: number, action: () => void): void {
    this.#timer = setTimeout(() => {
      action();
      this.#settle();
    }, milliseconds);
  }

  /** Not called during a long paste: a terminal that does not read while it sends would block for ever. */
  #settle(): void {
    if (this.#hasReported) this.#handler.settled();
    this.#hasReported = false;
  }
}

/** Asks the terminal what it can do (DA1). */
export const ATTRIBUTES_QUERY = '\x1b[c';

/** How long the terminal may take to answer, in milliseconds. */
export const ATTRIBUTES_LIMIT = 500;

const REPLY = /\x1b\[\?([\d;]*)c/;
const REPLY_BEGINS = /\x1b\[\?[\d;]*$/;

/** The text without the terminal's answer, and the answer; null if there is none. */
function attributesReply(text: string): { readonly rest: string; readonly attributes: string } | null {
  const found = REPLY.exec(text);
  if (found === null) return null;
  const { index } = found;
  return { rest: text.slice(0, index) + text.slice(index + found[0].length), attributes: found[1] ?? '' };
}

/** Where an incomplete answer at the end of the text starts; -1 if there is none. */
const attributesBegin = (text: string): number => text.search(REPLY_BEGINS);

/** Asks the terminal for the colour of its background (OSC 11). */
export const BACKGROUND_QUERY = '\x1b]11;?\x1b\\';

/** The start of the answer. */
const REPLY_START = '\x1b]11;';

/** The end of the answer that starts at `start`, and its colour; null while it is incomplete. */
function backgroundReply(text: string, start: number): { readonly end: number; readonly colour: string } | null {
  const [terminator] = /\x07|\x1b\\/.exec(text.slice(start + 1)) ?? [];
  if (terminator === undefined) return null;
  const end = text.indexOf(terminator, start + 1);
  return { end: end + terminator.length, colour: text.slice(start + REPLY_START.length, end) };
}

/** Whether a colour as X11 writes it, `rgb:1e1e/2020/ffff`, is light; null if it is not a colour. */
export function isLight(colour: string): boolean | null {
  const parts = /^rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})/i.exec(colour)?.slice(1);
  if (parts === undefined) return null;
  const [red = 0, green = 0, blue = 0] = parts.map((part) => Number.parseInt(part, 16) / (16 ** part.length - 1));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5;
}

/** What a terminal sends around a paste once bracketed paste is on. */
export const PASTE_START = '\x1b[200~';
export const PASTE_END = '\x1b[201~';

/**
 * The offset of the marker that ends a paste; -1 when there is none. Some terminals do not remove the marker from the
 * text they paste, and the text after a pasted marker would act as keys. So of several end markers, the last one before
 * the next paste counts.
 */
function findPasteEnd(text: string): number {
  const next = text.indexOf(PASTE_START);
  const end = next === -1 ? text.lastIndexOf(PASTE_END) : text.lastIndexOf(PASTE_END, next);
  return end === -1 ? text.indexOf(PASTE_END) : end;
}

/** How many characters at the end of the text may be the start of the marker. */
function partialMarkerLength(text: string, marker: string): number {
  for (let length = Math.min(marker.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(marker.slice(0, length))) return length;
  return 0;
}

/** Terminals send the newlines of a paste as CR. A CRLF was in the copied text and is kept. */
function normaliseNewlines(text: string): string {
  return text.replace(/\r(?!\n)/g, '\n');
}
