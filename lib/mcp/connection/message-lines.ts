import { type JSONRPCMessage, parseJSONRPCMessage } from '@modelcontextprotocol/client';
import { isTooDeep } from '../../chat/json.js';
import { lastCharacters } from '../../chat/text.js';
import type { ServerLog } from './server-log.js';

/** A longer line is not a message. A result of ten megabytes must fit, with its escapes. */
const LONGEST_LINE = 64 * 1024 * 1024;

/** How much of a line that is not a message is logged. */
const LOGGED = 1000;

/** Reads the messages in a server's output, one per line. Other lines are logged. */
export class MessageLines {
  readonly #take: (message: JSONRPCMessage) => void;
  readonly #log: ServerLog;
  #pieces: Buffer[] = [];
  #length = 0;
  /** Called when no more messages are expected. */
  readonly #giveUp: () => void;

  constructor(take: (message: JSONRPCMessage) => void, log: ServerLog, giveUp: () => void) {
    this.#take = take;
    this.#giveUp = giveUp;
    this.#log = log;
  }

  take(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
      this.#keep(chunk.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
  }

  #keep(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length <= LONGEST_LINE) return;
    this.#log.write(`[hi] it was ended: it sent a line of more than ${LONGEST_LINE} bytes\n`);
    this.#clear();
    this.#giveUp();
  }

  #endLine(): void {
    const line = Buffer.concat(this.#pieces).toString().trim();
    this.#clear();
    if (line === '') return;
    const message = messageIn(line);
    if (message === null) this.#log.write(`[stdout] ${lastCharacters(line, LOGGED)}\n`);
    else this.#take(message);
  }

  #clear(): void {
    this.#pieces = [];
    this.#length = 0;
  }
}

function messageIn(line: string): JSONRPCMessage | null {
  try {
    const value: unknown = JSON.parse(line);
    return isTooDeep(value) ? null : parseJSONRPCMessage(value);
  } catch {
    return null;
  }
}
