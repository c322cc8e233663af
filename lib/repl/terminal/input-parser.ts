import { emitKeypressEvents, type Key } from 'node:readline';
import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { attributesBegin, attributesReply } from './attributes-reply.js';
import { backgroundReply, REPLY_START } from './background-reply.js';
import { findPasteEnd, normaliseNewlines, PASTE_END, PASTE_START, partialMarkerLength } from './paste-markers.js';

/** Receives what the terminal's bytes mean. */
export interface InputHandler {
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

/** Decodes a terminal's input, which may be split anywhere. Pastes bypass key decoding, so nothing in them can act as a key. */
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
