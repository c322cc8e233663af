import type { JsonObject } from '../../chat/json.js';
import type { NewMessage, Part } from '../../chat/message.js';
import type { Named } from '../../registry.js';

/** A file of an export, in a folder or in an archive. */
export interface SourceFile {
  /** Its path for the user; of one in an archive `export.zip/conversations.json`. */
  readonly path: string;
  /** Its size in bytes, as far as its folder or its archive says. */
  readonly size: number;
  /** Its bytes, piece by piece. Throws `Unreadable` and system errors. */
  bytes(): AsyncIterable<Buffer>;
}

/** A file, or the rest of one, that cannot be read. Its message is half a sentence. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

/** A file that belongs to a message. It becomes an attachment, or text. */
export interface AttachedFile {
  readonly type: 'attached';
  readonly file: SourceFile;
  readonly name: string;
}

/** A message as its source has it. What a record does not hold is absent or empty, never invented. */
export interface ForeignMessage
  extends Pick<NewMessage, 'role' | 'model' | 'provider' | 'usage' | 'rests_on' | 'stop_reason'> {
  /** The id that the source gave it, unique in its thread. */
  readonly id: string;
  /** ISO 8601, UTC; empty if the source does not say. */
  readonly at: string;
  /** The working folder; absent if the source does not say. */
  readonly cwd?: string;
  /** What the user typed comes last, after files. */
  readonly content: readonly (Part | AttachedFile)[];
}

/** One conversation of a source, in the order in which it was held. */
export interface Thread {
  /** The id that the source gave it, unique in the source. */
  readonly id: string;
  readonly title?: string;
  readonly messages: readonly ForeignMessage[];
}

/**
 * What the first part of a file holds: the first object of a JSON file, or the beginning of a text; of a SQLite
 * database the names of its tables.
 */
export type Sample =
  | { readonly form: 'json'; readonly first: JsonObject }
  | { readonly form: 'text'; readonly text: string }
  | { readonly form: 'sqlite'; readonly tables: ReadonlySet<string> };

/** What a source is given while it reads. */
export interface Reading {
  /** The file of the same export whose name begins so, whatever its folder; null if there is none. */
  beside(prefix: string): SourceFile | null;
  /** The path of a file in its export without its extension, as the name of a conversation that has none. */
  nameOf(file: SourceFile): string;
  /** Reports what could not be read, and where: `line 7`, `byte 123`. */
  problem(file: SourceFile, place: string, what: string): void;
  /** Counts what is not taken in: `messages of other branches`. */
  leaveOut(what: string, count?: number): void;
}

/** Where programs keep what is theirs. */
export interface Machine {
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A kind of export or store of another program. */
export interface Source extends Named {
  /** The name of the program, for the user. */
  readonly title: string;
  /** Where the program keeps its conversations on this machine; none for what is exported. */
  places(machine: Machine): readonly string[];
  /** Whether a file is of this kind, judged by its content only. */
  recognises(sample: Sample): boolean;
  /** The conversations in a file, one after the other. */
  threads(file: SourceFile, reading: Reading): AsyncIterable<Thread>;
}
