import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { isJsonObject, type JsonObject } from '../chat/json.js';
import { makeFolder, writeAside } from '../disk.js';
import { readMemory, withoutLines } from '../memory/memory-file.js';
import { AUTHORS, type LineOrigin, linesOf, type MemoryLine, withLine } from '../memory/memory-text.js';
import { type Decisions, decidedHere, decidedThere, subjectOf, waitingDecisions } from './decisions.js';
import type { DecisionItem } from './items.js';

/**
 * The lines of `memory.md`, as decisions about each. Methods throw `HiError`s of code `config`, and the system's
 * errors.
 */
export class MemoryLines {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /**
   * The decisions after what the user has added and removed since. With `isNew` it is unknown which lines there were:
   * then those that were decided about are compared with what holds now, and only the others are new.
   */
  decided(decisions: Decisions, isNew: boolean): Decisions {
    const lines = new Map(this.#lines().map((line) => [nameOf(line.text), line]));
    const removed = Object.values(decisions).filter(
      ({ item, here }) => item.kind === 'line' && here && !lines.has(item.line),
    );
    let decided = decisions;
    for (const line of lines.keys()) {
      const known = decisions[`line ${line}`];
      if (known?.here === true) continue;
      if (known !== undefined && isNew) decided = { ...decided, [`line ${line}`]: { ...known, here: true } };
      else decided = decidedHere(decided, { kind: 'line', line, v: 0, value: true });
    }
    return removed.reduce((all, { item }) => decidedHere(all, { ...item, value: false }), decided);
  }

  /**
   * Carries out what other machines decided. Only under the lock. Returns the decisions, which hold then, without the
   * texts.
   */
  carryOut(decisions: Decisions): Decisions {
    const waiting = waitingDecisions(decisions).filter((item) => item.kind === 'line');
    if (waiting.length === 0) return decisions;
    const before = readMemory(this.#path);
    const gone = new Set(waiting.filter(({ value }) => !value).map(({ line }) => line));
    const kept =
      gone.size === 0
        ? before
        : withoutLines(
            before,
            () => false,
            ({ text }) => gone.has(nameOf(text)),
          ).source;
    const after = waiting.reduce((source, { value, text, origin }) => {
      return value && text !== undefined ? withLine(source, text, originIn(origin)) : source;
    }, kept);
    if (after !== before) {
      makeFolder(dirname(this.#path), 0o700);
      writeAside(this.#path, after, { mode: 0o600, synced: true });
    }
    return waiting.reduce((done, item) => withoutText(decidedThere(done, item), item), decisions);
  }

  /** A decision to give out, with the text of a line that was added. */
  told(item: DecisionItem): DecisionItem {
    if (item.kind !== 'line' || !item.value) return item;
    const found = this.#lines().find(({ text }) => nameOf(text) === item.line);
    return found === undefined
      ? item
      : { ...item, text: found.text, ...(found.origin && { origin: told(found.origin) }) };
  }

  #lines(): readonly MemoryLine[] {
    return linesOf(readMemory(this.#path));
  }
}

/** The name of a line. */
export function nameOf(text: string): string {
  return createHash('sha256').update(text).digest().subarray(0, 8).toString('base64url');
}

function withoutText(decisions: Decisions, item: DecisionItem): Decisions {
  const subject = subjectOf(item);
  const known = decisions[subject];
  if (known === undefined || known.item.kind !== 'line') return decisions;
  const { line, v, value } = known.item;
  return { ...decisions, [subject]: { ...known, item: { kind: 'line', line, v, value } } };
}

/** The id of a message means nothing elsewhere. */
const told = ({ by, at, foreign }: LineOrigin): JsonObject => ({ by, at, ...(foreign && { foreign }) });

function originIn(stored: JsonObject | undefined): LineOrigin {
  const { by, at, foreign } = isJsonObject(stored) ? stored : {};
  const author = AUTHORS.find((one) => one === by) ?? 'user';
  return {
    by: author,
    at: typeof at === 'string' && TIME.test(at) ? at : NO_TIME,
    id: null,
    ...(foreign === true && { foreign }),
  };
}

/** The form of a time in a comment of `memory.md`. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const NO_TIME = '1970-01-01T00:00:00Z';
