import { closeSync, existsSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { bookFiles, bookNames } from '../../books/book.js';
import { forgetInBook, withText } from '../../books/forget-in-books.js';
import { storedText } from '../../chat/entry.js';
import { type Message, typedText } from '../../chat/message.js';
import { type ForgetOrder, occurrenceOf } from '../../chat/occurrence.js';
import { quantity } from '../../chat/text.js';
import { COMPRESSIONS } from '../../compaction/cache.js';
import type { Paths } from '../../config/paths.js';
import {
  fileNamesIn,
  leadsToFile,
  namesWithLeftovers,
  readRegularFile,
  removeEmptyFolder,
  removeFiles,
  removeWithLeftovers,
  writeAside,
} from '../../disk.js';
import { HiError, systemCode } from '../../errors.js';
import { occurrenceInBytes } from '../../history/forget/survey.js';
import { LOGS } from '../../mcp/connection/spawn-server.js';
import { readMemory, withoutLines } from '../../memory/memory-file.js';
import { linesOf, type MemoryLine } from '../../memory/memory-text.js';
import { removeIndex } from '../../recall/disk/index-folder.js';
import { askedAt, QUESTIONS, readQuestion } from '../../servers/question-queue.js';
import { OUTPUTS } from '../../tools/shell/spill.js';
import { KEPT_SCRIPTS } from '../compiled/keep-scripts.js';

/** A place outside the history with something to remove. */
export interface Place {
  /** Describes what is removed; empty for what only said to forget it, which needs no question. */
  readonly what: readonly string[];
  /** How the receipt calls what is described. */
  readonly short: string;
  /** Removes it; does nothing if already removed. Throws the system's error. */
  forget(): void;
}

/** Every place outside the history with something to remove; with `isGone`, after it was removed from the history. */
export function placesOf(paths: Paths, traces: Traces, isGone = false): readonly Place[] {
  const finds = [memoryLines, inputs, questions, outputs, summaries, debugLog, serverLogs, knownThings, books];
  // It is only written, under the lock, of what is in the history.
  if (!isGone) finds.push(index);
  return finds.flatMap((find) => {
    const place = find(paths, traces);
    return place === null ? [] : [place];
  });
}

type Find = (paths: Paths, traces: Traces) => Place | null;

const memoryLines: Find = ({ memory }, traces) => {
  const without = () => withoutLines(readMemory(memory), traces.holds, traces.isLineMeant);
  const { lines } = without();
  const left = leftoversOf(memory, traces);
  if (lines.length === 0 && left === null) return null;
  return {
    what: lines.map((line) => `a line of memory.md: ${line.trim()}`),
    short: quantity(lines.length, 'line of the memory', 'lines of the memory'),
    forget() {
      const kept = without();
      if (kept.lines.length > 0) writeAside(memory, kept.source, { mode: 0o600, synced: true });
      left?.();
    },
  };
};

const inputs: Find = ({ inputHistory }, traces) => {
  const split = (): readonly [gone: readonly string[], kept: readonly string[]] => {
    const lines = leadsToFile(inputHistory) ? readRegularFile(inputHistory).toString().split('\n') : [];
    const goes = (line: string): boolean => line !== '' && traces.isTyped(inputIn(line));
    return [lines.filter(goes), lines.filter((line) => !goes(line))];
  };
  const [gone] = split();
  const left = leftoversOf(inputHistory, traces);
  if (gone.length === 0 && left === null) return null;
  const said = gone.map(inputIn).filter((input) => !/^\/forget\s/.test(input));
  return {
    what: said.map((input) => `an input that you typed: ${input}`),
    short: quantity(said.length, 'input'),
    forget() {
      const [still, kept] = split();
      if (still.length > 0) writeAside(inputHistory, kept.join('\n'), { mode: 0o600, synced: true });
      left?.();
    },
  };
};

function inputIn(line: string): string {
  try {
    return String(JSON.parse(line));
  } catch {
    return line;
  }
}

const outputs: Find = ({ outputs: folder }, traces) => {
  const meant = fileNamesIn(folder).filter((name) => {
    if (!OUTPUTS.test(name)) return false;
    const path = join(folder, name);
    return traces.isOutputMeant(name, statSync(path).mtime) || fileHolds(path, traces.holds);
  });
  if (meant.length === 0) return null;
  return {
    what: meant.map((name) => `the output of a command: ${name}`),
    short: quantity(meant.length, 'output of commands', 'outputs of commands'),
    forget() {
      for (const name of meant) rmSync(join(folder, name), { force: true });
      removeEmptyFolder(folder);
    },
  };
};

/** What was said to other programs is searched for a text only: ids and times are those of the conversation. */
const books: Find = ({ imports }, { text }) => {
  if (text === null || !existsSync(imports)) return null;
  const found = bookNames(imports)
    .map((name) => withText(bookFiles(imports, name), text))
    .filter(({ isNothing }) => !isNothing);
  if (found.length === 0) return null;
  const all = found.reduce((sum, { messages }) => sum + messages.length, 0);
  return {
    what: found.map(({ book, messages }) => `in the book ${book.name}: ${countIn(messages)}`),
    short:
      all === 0 ? 'files of imported books' : quantity(all, 'message of imported books', 'messages of imported books'),
    forget() {
      for (const meant of found) forgetInBook(meant);
    },
  };
};

/** A killed import leaves files that no message has. */
const countIn = ({ length }: readonly Message[]): string => (length === 0 ? 'files' : quantity(length, 'message'));

/** The questions that wait for a server. */
const questions: Find = ({ queue: folder }, traces) => {
  const goes = (name: string): boolean => {
    if (!QUESTIONS.test(name)) return false;
    const path = join(folder, name);
    const attachments = readQuestion(path)?.question.attachments ?? [];
    return (
      traces.isSince(askedAt(name)) ||
      fileHolds(path, traces.holds) ||
      attachments.some(({ bytes }) => traces.holdsBytes(Buffer.from(bytes)))
    );
  };
  const meant = fileNamesIn(folder).filter(goes);
  if (meant.length === 0) return null;
  return {
    what: meant.map((name) => `a question that waits for a server: ${name}`),
    short: quantity(meant.length, 'question that waits', 'questions that wait'),
    forget() {
      for (const name of meant) rmSync(join(folder, name), { force: true });
      removeEmptyFolder(folder);
    },
  };
};

/** A summary may paraphrase the text, so all of them are removed. */
const summaries: Find = ({ compressions }, { any, holds }) => {
  const names = fileNamesIn(compressions).filter((name) => COMPRESSIONS.test(name));
  const goes = names.length > 0 && (any || names.some((name) => fileHolds(join(compressions, name), holds)));
  if (!goes) return null;
  return {
    what: [`the cache of summaries (${quantity(names.length, 'file')})`],
    short: 'the cache of summaries',
    forget() {
      removeFiles(compressions, COMPRESSIONS);
      removeEmptyFolder(compressions);
    },
  };
};

/** The log contains answers in pieces, as received. */
const debugLog: Find = ({ log }, { any, holds }) =>
  existsSync(log) && (any || fileHolds(log, holds)) ? file(log, 'the log of --debug') : null;

/** A server may log its requests. */
const serverLogs: Find = ({ servers }, { any, holds }) => {
  const meant = fileNamesIn(servers).filter(
    (name) => LOGS.test(name) && (any || fileHolds(join(servers, name), holds)),
  );
  if (meant.length === 0) return null;
  return {
    what: meant.map((name) => `the log of an MCP server: ${name}`),
    short: quantity(meant.length, 'MCP server log'),
    forget() {
      for (const name of meant) rmSync(join(servers, name), { force: true });
    },
  };
};

/** Data that hi can learn again. */
const knownThings: Find = ({ knownSkills, knownModels, warned }, { holds }) => {
  const meant = [knownSkills, knownModels, warned].filter((path) => leadsToFile(path) && fileHolds(path, holds));
  if (meant.length === 0) return null;
  const names = meant.map((path) => basename(path)).join(', ');
  return {
    what: [`what was learned earlier: ${names}`],
    short: names,
    forget: () => {
      for (const path of meant) removeWithLeftovers(path);
    },
  };
};

const index: Find = ({ index: root }, { any }) =>
  any && existsSync(root)
    ? { what: ['the index of what was said'], short: 'the index', forget: () => removeIndex(root) }
    : null;

const file = (path: string, short: string): Place => ({
  what: [short],
  short,
  forget: () => removeWithLeftovers(path),
});

/** Removes leftover temporary files that contain it; null for nothing. */
function leftoversOf(path: string, { any, holds }: Traces): (() => void) | null {
  const name = basename(path);
  const pattern = namesWithLeftovers(name.replace(/[^\w-]/g, '\\$&'));
  const folder = dirname(path);
  const left = fileNamesIn(folder).filter((one) => one !== name && pattern.test(one));
  if (!left.some((one) => any || fileHolds(join(folder, one), holds))) return null;
  return () => {
    for (const one of left) rmSync(join(folder, one), { force: true });
  };
}

const CHUNK_SIZE = 8 * 1024 * 1024;

/** How many bytes of the previous chunk are read again: a match may span two chunks. */
const OVERLAP = 128 * 1024;

/** Whether a file of any size contains it. False if another process has just removed the file. */
function fileHolds(path: string, holds: (content: string) => boolean): boolean {
  if (!leadsToFile(path)) return false;
  const opened = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(Math.min(CHUNK_SIZE, statSync(path).size + 1));
    for (let at = 0; ; at += bytes.length - OVERLAP) {
      const size = readSync(opened, bytes, 0, bytes.length, at);
      if (holds(bytes.toString('utf8', 0, size))) return true;
      if (size < bytes.length) return false;
    }
  } finally {
    closeSync(opened);
  }
}

/** The user's own files that contain the text. hi does not change them. */
export function ownFilesWith(
  { config, configFile, skills, commands, memory }: Paths,
  holds: (content: string) => boolean,
): readonly string[] {
  const own = [configFile, ...[config, skills, commands].flatMap((folder) => filesBelow(folder))];
  return [...new Set(own)].filter((path) => path !== memory && fileHolds(path, holds)).sort();
}

function filesBelow(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter(leadsToFile);
  } catch {
    return [];
  }
}

/** How to recognise what is to be removed outside the history. */
interface Traces {
  /** The text that is to be forgotten; null if it is something else. */
  readonly text: string | null;
  /**
   * Whether messages, or copies of them, are removed. If so, data derived from the whole conversation is removed too.
   */
  readonly any: boolean;
  holds(content: string): boolean;
  /** The same for the bytes of an attachment. */
  holdsBytes(bytes: Buffer): boolean;
  /** Whether everything of a time is removed. Milliseconds. */
  isSince(time: number): boolean;
  isTyped(input: string): boolean;
  /** Whether to remove a command's output file, given its name and time. */
  isOutputMeant(name: string, written: Date): boolean;
  isLineMeant(line: MemoryLine): boolean;
}

/** The traces of some messages. */
export function tracesOf(order: ForgetOrder, messages: readonly Message[], any: boolean): Traces {
  const holds = order.kind === 'text' ? occurrenceOf(order.text) : () => false;
  const typed = new Set(messages.filter(({ role }) => role === 'user').map(({ content }) => typedText(content).trim()));
  typed.delete('');
  const texts = messages.map(storedText);
  const times = new Map(messages.map(({ id, at }) => [id, Date.parse(at)]));
  const isSince = (time: number): boolean => order.kind === 'since' && time >= order.from.getTime();
  return {
    any,
    text: order.kind === 'text' ? order.text : null,
    holds,
    holdsBytes: order.kind === 'text' ? occurrenceInBytes(order.text) : () => false,
    isSince,
    isTyped: (input) => holds(input) || typed.has(input.trim()),
    isOutputMeant: (name, written) => isSince(written.getTime()) || texts.some((text) => text.includes(name)),
    isLineMeant: ({ origin }) => {
      if (origin === null) return false;
      const made = Date.parse(origin.at);
      if (isSince(made)) return true;
      // The user's own line is independent; one from the model or a summary is based on messages. After a reset the
      // same ids mean other messages.
      const said = origin.by === 'user' || origin.id === null ? undefined : times.get(origin.id);
      return said !== undefined && Math.floor(said / 1000) * 1000 <= made;
    },
  };
}

/**
 * Removes the files that `hi` made outside the history: summaries, outputs, inputs, logs, the index, the compiled
 * program. Other files in these folders stay: they may be anyone's. Throws a `HiError` of code `history` that names
 * what cannot be removed.
 */
export function purgeCaches(paths: Paths): void {
  for (const [folder, names] of [
    [paths.compressions, COMPRESSIONS],
    [paths.outputs, OUTPUTS],
    [paths.queue, QUESTIONS],
    [paths.servers, LOGS],
    [paths.compiled, KEPT_SCRIPTS],
  ] as const) {
    removing(folder, () => removeFiles(folder, names));
    removeEmptyFolder(folder);
  }
  for (const path of [paths.inputHistory, paths.knownSkills, paths.knownModels, paths.warned, paths.log]) {
    removing(path, () => removeWithLeftovers(path));
  }
  removing(paths.index, () => removeIndex(paths.index));
  removeEmptyFolder(paths.cache);
}

/** What a reset leaves of what the user said, as a sentence of its receipt; empty if there is nothing. */
export function leftByReset({ memory, imports, queue }: Paths): string {
  const lines = linesOf(readMemory(memory)).length;
  const books = bookNames(imports).length;
  const waiting = fileNamesIn(queue).filter((name) => QUESTIONS.test(name)).length;
  const left = [
    ...(lines > 0 ? [`the memory (${quantity(lines, 'line')})`] : []),
    ...(books > 0 ? [quantity(books, 'imported book')] : []),
    ...(waiting > 0 ? [`${quantity(waiting, 'question')} in the queue`] : []),
  ];
  return left.length > 0 ? `Not cleared: ${left.join(', ')}.` : '';
}

function removing(path: string, work: () => void): void {
  try {
    work();
  } catch (cause) {
    const code = systemCode(cause);
    if (code === undefined) throw cause;
    throw new HiError('history', `Cleared the conversation, but cannot remove '${path}' (${code}).`, {
      hint: "Check its owner and mode with 'ls -ld', then run the command again.",
      cause,
    });
  }
}
