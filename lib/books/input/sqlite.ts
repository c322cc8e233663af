import { isJsonObject, type JsonObject } from '../../chat/json.js';
import { type SourceFile, Unreadable } from '../common/book-source.js';

/** How a SQLite database begins. */
export const SQLITE_MARK = 'SQLite format 3\0';

/** What is used of `node:sqlite`, which Node has without a flag from 22.13 on. */
interface Sqlite {
  readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => Opened;
}

interface Opened {
  prepare(sql: string): { iterate(...values: readonly string[]): Iterable<unknown> };
  close(): void;
}

/** How much of a database is searched for the names of its tables, in bytes: they may stand anywhere. */
const SEARCHED = 256 * 1024 * 1024;

/** The names of the tables of a database, where there is no SQLite too: their definitions are in it as text. */
export async function tablesIn(file: SourceFile): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  let [before, size] = ['', 0];
  for await (const piece of file.bytes()) {
    const text = before + piece.toString('latin1');
    for (const [, name = ''] of text.matchAll(/CREATE TABLE ["[`]?(\w{1,64})/g)) names.add(name);
    before = text.slice(-100);
    size += piece.length;
    if (size > SEARCHED) break;
  }
  return names;
}

/** A database that is read and never written. */
export interface Database {
  readonly tables: ReadonlySet<string>;
  /** The rows of a query, which may have one `?` for a value, read on demand. */
  rows(sql: string, value?: string): Iterable<JsonObject>;
  close(): void;
}

/** Opens a database. Throws `Unreadable`, also where the program that runs hi has no SQLite. */
export function openDatabase({ path }: SourceFile): Database {
  const sqlite = loaded();
  if (sqlite === null) throw new Unreadable(`hi runs on ${runtime()}, which cannot read SQLite, as Node 24 can`);
  const opened = readable(() => new sqlite.DatabaseSync(path, { readOnly: true }));
  function* rows(sql: string, value: string | null = null): Generator<JsonObject> {
    const query = readable(() => opened.prepare(sql));
    const found = (value === null ? query.iterate() : query.iterate(value))[Symbol.iterator]();
    for (let next = readable(() => found.next()); !next.done; next = readable(() => found.next()))
      if (isJsonObject(next.value)) yield next.value;
  }
  const names = [...rows("SELECT name FROM sqlite_master WHERE type = 'table'")].map(({ name }) => String(name));
  return { tables: new Set(names), rows, close: () => opened.close() };
}

const runtime = (): string => ('bun' in process.versions ? 'Bun' : `Node ${process.versions.node}`);

/** Node warns on stderr that its SQLite is an experiment, which is no news for the user. */
function loaded(): Sqlite | null {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    const found: object | undefined = process.getBuiltinModule('node:sqlite');
    return found !== undefined && isSqlite(found) ? found : null;
  } finally {
    process.emitWarning = emitWarning;
  }
}

const isSqlite = (found: object): found is Sqlite => 'DatabaseSync' in found;

/** What `read` returns. SQLite's own errors are `Unreadable`. */
function readable<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (thrown) {
    throw isOfSqlite(thrown) ? new Unreadable(thrown.message, { cause: thrown }) : thrown;
  }
}

const isOfSqlite = (thrown: unknown): thrown is { readonly message: string } =>
  typeof thrown === 'object' && thrown !== null && 'code' in thrown && thrown.code === 'ERR_SQLITE_ERROR';
