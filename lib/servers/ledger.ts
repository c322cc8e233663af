import { closeSync, constants, fdatasyncSync, fstatSync, openSync, readdirSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseObject } from '../chat/json.js';
import { makeFolder } from '../disk.js';
import { HiError, systemCode } from '../errors.js';

/** The cost of a request: US dollars, and the tokens of a model whose price is unknown. */
export interface Amount {
  readonly dollars: number;
  readonly tokens: number;
}

export const NOTHING: Amount = { dollars: 0, tokens: 0 };

export const addAmounts = (one: Amount, other: Amount): Amount => ({
  dollars: one.dollars + other.dollars,
  tokens: one.tokens + other.tokens,
});

/** The amount spent, and reserved for running requests, in the local day and month. */
export interface Spending {
  readonly day: Amount;
  readonly month: Amount;
}

interface Item extends Amount {
  readonly at: number;
}

/** How far clocks of processes and file servers may differ, in milliseconds. */
const SKEW = 10 * 60_000;

/** How long another process may take to finish a line, in milliseconds. */
const PATIENCE = 20;

/**
 * What requests cost, in one file a month that all processes append to. A request is entered before it is sent, with
 * what it may cost, and again when its real cost is known. The order of the file decides which of many requests at once
 * still fits a limit: each counts what stands before it, so there is nothing to lock. A ledger that cannot be read or
 * written, or is of a later time, throws a `HiError` of code `limit`: then nothing may be spent.
 */
export class Ledger {
  readonly #folder: string;
  readonly #now: () => Date;
  /** The part of the file read so far. */
  #month = '';
  #offset = 0;
  #items = new Map<string, Item>();

  constructor(folder: string, now: () => Date) {
    this.#folder = folder;
    this.#now = now;
  }

  /** Enters a request that may cost so much. Returns what all requests before it cost. */
  enter(id: string, amount: Amount): Spending {
    this.#append({ id, at: this.#now().getTime(), ...amount }, true);
    return this.#before(id);
  }

  /**
   * Corrects what the request costs. A correction downwards need not survive a power cut: more would be counted than
   * was spent, never less.
   */
  settle(id: string, amount: Amount): void {
    const { at, dollars, tokens } = this.#items.get(id) ?? { at: this.#now().getTime(), ...NOTHING };
    this.#append({ id, at, ...amount }, amount.dollars > dollars || amount.tokens > tokens);
  }

  /** The amount spent so far. */
  spent(): Spending {
    return this.#before(null);
  }

  #before(id: string | null): Spending {
    this.#read();
    const today = dayOf(this.#now());
    let [day, month] = [NOTHING, NOTHING];
    for (const [name, item] of this.#items) {
      if (name === id) break;
      month = addAmounts(month, item);
      if (dayOf(new Date(item.at)) === today) day = addAmounts(day, item);
    }
    return { day, month };
  }

  #append(line: object, isSynced: boolean): void {
    this.#read();
    const text = Buffer.from(`${JSON.stringify(line)}\n`);
    try {
      makeFolder(this.#folder, 0o700);
      const descriptor = openSync(this.#path, 'a', 0o600);
      try {
        if (writeSync(descriptor, text) < text.length) throw Object.assign(new Error(), ENOSPC);
        if (isSynced) fdatasyncSync(descriptor);
      } finally {
        closeSync(descriptor);
      }
    } catch (cause) {
      throw this.#stop(
        `cannot be written (${systemCode(cause) ?? String(cause)})`,
        'Make room, or check its permissions.',
        cause,
      );
    }
  }

  get #path(): string {
    return join(this.#folder, `${monthOf(this.#now())}.jsonl`);
  }

  /** Reads what was added since the last time. */
  #read(): void {
    const month = monthOf(this.#now());
    if (month !== this.#month) {
      [this.#month, this.#offset, this.#items] = [month, 0, new Map()];
      this.#requirePresent(month);
    }
    let text = this.#added();
    for (let tries = 0; text !== '' && !text.endsWith('\n') && tries < 5; tries += 1) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PATIENCE);
      text = this.#added();
    }
    for (const line of text.split('\n').slice(0, text.endsWith('\n') ? -1 : undefined))
      if (text !== '') this.#take(line);
    this.#offset += Buffer.byteLength(text);
  }

  #take(line: string): void {
    const { id, at, dollars, tokens } = parseObject(line) ?? {};
    const isAmount = (value: unknown): value is number => typeof value === 'number' && value >= 0;
    if (typeof id !== 'string' || !isAmount(at) || !isAmount(dollars) || !isAmount(tokens))
      throw this.#stop(`has a damaged line: '${line.slice(0, 60)}'`, 'Remove that line.');
    if (at > this.#now().getTime() + SKEW)
      throw this.#stop(`is from the future (${new Date(at).toISOString()})`, 'Correct the clock of this machine.');
    this.#items.set(id, { at, dollars, tokens });
  }

  /** A later month was written by a clock that is wrong, or this one is. */
  #requirePresent(month: string): void {
    let names: readonly string[];
    try {
      names = readdirSync(this.#folder);
    } catch (cause) {
      if (systemCode(cause) === 'ENOENT') return;
      throw this.#stop(`cannot be read (${systemCode(cause) ?? String(cause)})`, 'Check its permissions.', cause);
    }
    const soon = monthOf(new Date(this.#now().getTime() + SKEW));
    const later = names.find(
      (name) => /^\d{4}-\d\d\.jsonl$/.test(name) && name > `${soon}.jsonl` && name > `${month}.jsonl`,
    );
    if (later !== undefined)
      throw this.#stop(`is from the future (${later})`, 'Correct the clock of this machine, or move that file away.');
  }

  #added(): string {
    try {
      const descriptor = openSync(this.#path, constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        const found = fstatSync(descriptor);
        if (!found.isFile()) throw new Error('not a file');
        if (found.size < this.#offset) [this.#offset, this.#items] = [0, new Map()];
        const bytes = Buffer.alloc(found.size - this.#offset);
        return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, this.#offset)).toString();
      } finally {
        closeSync(descriptor);
      }
    } catch (cause) {
      if (systemCode(cause) === 'ENOENT') {
        [this.#offset, this.#items] = [0, new Map()];
        return '';
      }
      throw this.#stop(`cannot be read (${systemCode(cause) ?? String(cause)})`, 'Check its permissions.', cause);
    }
  }

  #stop(what: string, fix: string, cause?: unknown): HiError {
    return new HiError('limit', `Nothing is sent while a limit is set, because the ledger '${this.#path}' ${what}.`, {
      hint: `${fix} Or move the file away: what it counted is then not counted.`,
      cause,
    });
  }
}

const ENOSPC = { code: 'ENOSPC', syscall: 'write' };

const two = (number: number): string => String(number).padStart(2, '0');

/** `2026-03`, in local time. */
const monthOf = (date: Date): string => `${date.getFullYear()}-${two(date.getMonth() + 1)}`;

const dayOf = (date: Date): string => `${monthOf(date)}-${two(date.getDate())}`;
