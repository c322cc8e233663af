import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { makeFolder } from '../../folder.js';
import { neutralise } from '../../screen/text/neutralise.js';
import { harmlessText } from '../base/harmless-text.js';

/** A longer log is rotated, replacing the previously rotated one. */
const LONGEST = 1024 * 1024;

/** How much of the end is shown with a failure. */
const SHOWN_LINES = 5;
const SHOWN_CHARACTERS = 1000;

/** The output of a server that is not a message. It is never shown unasked. */
export class ServerLog {
  readonly path: string;
  readonly #folder: string;
  #descriptor: number | null = null;
  #length = 0;
  #last = '';
  #ended: string | null = null;

  constructor(folder: string, name: string) {
    this.#folder = folder;
    this.path = join(folder, `${encodeURIComponent(name)}.log`);
  }

  /** A new process starts; earlier output is not its own. */
  begin(): void {
    this.#last = '';
    this.#ended = null;
  }

  /** The process ended by itself. */
  end(code: number | null, signal: string | null): void {
    this.#ended = signal === null ? `It exited with status ${code}.` : `It was ended by ${signal}.`;
  }

  /** How the process ended by itself, as a sentence; null if it runs or was told to end. */
  get ended(): string | null {
    return this.#ended;
  }

  write(chunk: Buffer | string): void {
    this.#last = (this.#last + chunk.toString()).slice(-4 * SHOWN_CHARACTERS);
    try {
      this.#open();
      if (this.#descriptor !== null) this.#length += writeSync(this.#descriptor, neutralise(chunk.toString()));
    } catch {
      // A full disk must only affect the log.
    }
  }

  /** The last lines of the latest process, for the user; empty for none. */
  get lastLines(): string {
    const lines = stripVTControlCharacters(this.#last)
      .split(/\r?\n/)
      .filter((line) => line.trim() !== '');
    return harmlessText(lines.slice(-SHOWN_LINES).join('\n'), SHOWN_CHARACTERS);
  }

  close(): void {
    if (this.#descriptor !== null) closeSync(this.#descriptor);
    this.#descriptor = null;
  }

  #open(): void {
    if (this.#descriptor !== null && this.#length < LONGEST) return;
    if (this.#descriptor !== null) {
      this.close();
      renameSync(this.path, `${this.path}.old`);
    }
    makeFolder(this.#folder, 0o700);
    this.#descriptor = openSync(this.path, 'a', 0o600);
    this.#length = 0;
  }
}

/** Matches the names of the logs of servers, and of no other files of their folder. */
export const LOGS = /\.log(?:\.old)?$/;
