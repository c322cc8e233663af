import { emitKeypressEvents, type Key } from 'node:readline';
import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** What the terminal's bytes mean. */
export interface InputReader {
  /** A key, as `node:readline` reads it; `text` is what it types, empty for keys that type nothing. */
  key(text: string, key: Key): void;
  /** The Escape key by itself. */
  escape(): void;
  /** A whole bracketed paste, its newlines as `\n`, or as `\r\n` where that was copied. */
  paste(text: string): void;
  /** Everything that came at once has been told, and something was: time to draw. */
  settled(): void;
}

/** Takes what a terminal sends; `write` gets it in pieces cut anywhere. */
export interface InputParser {
  write(bytes: Buffer | string): void;
  /** Lets go of its timer. What is incomplete is dropped. */
  close(): void;
}

const PASTE_START = '\x1b[200~';
const PASTE_END = '\x1b[201~';
/** An Escape this long without anything after it is the key and not the beginning of a sequence. Milliseconds. */
const ESCAPE_PATIENCE = 50;
/** A paste that has been silent this long has lost its end. Milliseconds. */
const PASTE_PATIENCE = 1000;

/** Tells `reader` what comes in. Pastes never pass through key decoding, so nothing in them can act. */
export function createInputParser(reader: InputReader): InputParser {
  const decoder = new StringDecoder('utf8');
  const keys = new Readable({ read() {} });
  emitKeypressEvents(keys);
  keys.on('keypress', (text: string | undefined, key: Key) => {
    hasTold = true;
    reader.key(text ?? '', key);
  });

  let held = '';
  let pasted: string[] | null = null;
  let endIsOwed = false;
  let timer: NodeJS.Timeout | null = null;
  let hasTold = false;

  function paste(text: string): void {
    hasTold = true;
    reader.paste(newlines(text));
  }

  /** Nothing is drawn while a long paste comes in: a terminal that sends and does not read meanwhile would wait for ever. */
  function settle(): void {
    if (hasTold) reader.settled();
    hasTold = false;
  }

  function later(milliseconds: number, act: () => void): void {
    timer = setTimeout(() => {
      timer = null;
      act();
      settle();
    }, milliseconds);
  }

  /** The end of a paste never came: what did come counts, and what else arrives in lumps still belongs to it. */
  function loseEnd(): void {
    paste((pasted ?? []).join('') + held);
    held = '';
    pasted = null;
    endIsOwed = true;
  }

  function readKeys(text: string): void {
    const start = text.indexOf(PASTE_START);
    if (start !== -1) {
      readKeys(text.slice(0, start));
      pasted = [];
      endIsOwed = false;
      readPaste(text.slice(start + PASTE_START.length));
      return;
    }
    const kept = unfinishedMarker(text, PASTE_START);
    held = text.slice(text.length - kept);
    // Sent as an event and not pushed: the keys must be told before the paste that follows them.
    if (text.length > kept) keys.emit('data', text.slice(0, text.length - kept));
    if (held === '\x1b') {
      later(ESCAPE_PATIENCE, () => {
        held = '';
        hasTold = true;
        reader.escape();
      });
    } else if (held !== '') {
      later(ESCAPE_PATIENCE, () => {
        const rest = held;
        held = '';
        keys.emit('data', rest);
      });
    }
  }

  function readPaste(text: string): void {
    const end = endOfPaste(text);
    if (end === -1) {
      const kept = unfinishedMarker(text, PASTE_END);
      held = text.slice(text.length - kept);
      pasted?.push(text.slice(0, text.length - kept));
      later(PASTE_PATIENCE, loseEnd);
      return;
    }
    paste((pasted ?? []).join('') + text.slice(0, end));
    pasted = null;
    readKeys(text.slice(end + PASTE_END.length));
  }

  /** After a paste without an end: a lump of text was not typed by hand, a single key was. */
  function readOwed(text: string): void {
    const end = text.indexOf(PASTE_END);
    if (end !== -1) {
      endIsOwed = false;
      if (end > 0) paste(text.slice(0, end));
      readKeys(text.slice(end + PASTE_END.length));
    } else if (text.length > 2 && !text.startsWith('\x1b')) {
      paste(text);
    } else {
      if (!text.startsWith('\x1b')) endIsOwed = false;
      readKeys(text);
    }
  }

  return {
    write(bytes) {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      const text = held + (typeof bytes === 'string' ? bytes : decoder.write(bytes));
      held = '';
      if (pasted !== null && text === '\x03') {
        loseEnd();
        readKeys(text);
      } else if (pasted !== null) readPaste(text);
      else if (endIsOwed) readOwed(text);
      else readKeys(text);
      settle();
    },
    close() {
      if (timer !== null) clearTimeout(timer);
      keys.destroy();
    },
  };
}

/**
 * Where a paste ends. Not every terminal takes the marker out of what it pastes, and text that brings one along could go on as keys that
 * were never pressed: of several that came together, the last before the next paste counts.
 */
function endOfPaste(text: string): number {
  const next = text.indexOf(PASTE_START);
  const end = next === -1 ? text.lastIndexOf(PASTE_END) : text.lastIndexOf(PASTE_END, next);
  return end === -1 ? text.indexOf(PASTE_END) : end;
}

/** How many of the last characters may be the beginning of the marker. */
function unfinishedMarker(text: string, marker: string): number {
  for (let length = Math.min(marker.length - 1, text.length); length > 0; length -= 1)
    if (text.endsWith(marker.slice(0, length))) return length;
  return 0;
}

/** Terminals send the newlines of a paste as returns; a CRLF is what was copied, and stays. */
const newlines = (text: string): string => text.replace(/\r(?!\n)/g, '\n');
