import { basename } from 'node:path';
import type { JsonObject } from '../chat/json.js';
import { HiError, systemCode } from '../errors.js';
import { absolutePath } from '../permission/paths/resolve-path.js';
import { nearest } from '../registry.js';
import { type JudgedFile, judgedFile, type Tool } from './common/tool.js';
import { detectEncoding } from './shell/spill.js';

const SAMPLE_BYTES = 64 * 1024;

/** Lines after the requested range are counted for at most this many bytes. */
const MAX_COUNTED_BYTES = 256 * 1024 * 1024;

/** Reads a text file, or a range of its lines, in any encoding. Memory use is bounded for files of any size. */
export const readFile: Tool<{ readonly path: string; readonly offset?: number; readonly limit?: number }> = {
  name: 'read_file',
  accessKind: 'read',
  rulesCoverKind: true,
  effect: { kind: 'read', argument: 'path' },
  description: 'Reads a text file, or with `offset` and `limit` a part of it. It cannot read images and PDFs.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', minLength: 1, description: 'The file, relative to the working folder.' },
      offset: { type: 'integer', minimum: 1, description: 'The first line to read, from 1.' },
      limit: { type: 'integer', minimum: 1, description: 'How many lines to read.' },
    },
    required: ['path'],
    additionalProperties: false,
  },
  access: ({ path }, { cwd }) => ({ kind: 'read', path: absolutePath(path, cwd.now) }),
  async run({ path, offset = 1, limit = Number.POSITIVE_INFINITY }, { outputLimit }, _emit, signal, permit) {
    const judged = judgedFile(permit);
    const file = await judged.open().catch((failure) => suggest(failure, path, judged));
    try {
      await refuseSpecial(await file.stat(), path);
      const sample = Buffer.alloc(SAMPLE_BYTES);
      const { bytesRead } = await file.read(sample, 0, SAMPLE_BYTES, 0);
      const encoding = await detectEncoding(sample.subarray(0, bytesRead), bytesRead < SAMPLE_BYTES);
      if (encoding.kind === 'binary') return describeBinary(path, encoding.what, (await file.stat()).size);
      const stream = file.createReadStream({
        start: encoding.mark,
        autoClose: false,
        signal,
        highWaterMark: SAMPLE_BYTES,
      });
      const range = new LineRange(offset, limit, outputLimit);
      const decoder = new TextDecoder(encoding.name, { ignoreBOM: true });
      for await (const chunk of stream) {
        range.take(decoder.decode(chunk, { stream: true }));
        if (range.isDone && stream.bytesRead > MAX_COUNTED_BYTES) return range.result(path, false);
      }
      range.take(decoder.decode());
      return { ...range.result(path, true), ...(encoding.name === 'utf-8' ? {} : { encoding: encoding.name }) };
    } finally {
      await file.close();
    }
  },
};

async function suggest(failure: unknown, path: string, file: JudgedFile): Promise<never> {
  if (!(failure instanceof HiError) || systemCode(failure.cause) !== 'ENOENT') throw failure;
  const near = nearest(basename(path), await file.namesBeside());
  throw near === null ? failure : new HiError('usage', `${failure.message} Did you mean '${near}'?`);
}

async function refuseSpecial(
  stat: { isDirectory(): boolean; isFile(): boolean; isCharacterDevice(): boolean },
  path: string,
) {
  if (stat.isDirectory()) throw new HiError('usage', `'${path}' is a folder; list it with list_files.`);
  // A pipe or a device may never end.
  if (!stat.isFile()) throw new HiError('usage', `'${path}' is not a regular file; it cannot be read as text.`);
}

function describeBinary(path: string, what: string, bytes: number): JsonObject {
  const size = `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  if (/image|PDF/.test(what))
    throw new HiError(
      'usage',
      `'${path}' is a ${what} (binary, ${size}) and cannot be read as text. The user can show it to you by writing @${path} in a message.`,
    );
  return { content: `(binary content, not shown: ${what}, ${size})`, binary: true, bytes };
}

/** Selects lines from text that arrives in chunks. Never holds more than the limit. */
class LineRange {
  readonly #first: number;
  readonly #last: number;
  readonly #room: number;
  #kept = '';
  #line = 1;
  #lineIsEmpty = true;
  #full = false;
  /** The first line that was not kept in full. */
  #next: number | null = null;

  constructor(offset: number, limit: number, room: number) {
    this.#first = offset;
    this.#last = offset + limit - 1;
    this.#room = room;
  }

  take(text: string): void {
    let from = 0;
    while (from < text.length) {
      const newline = text.indexOf('\n', from);
      const to = newline === -1 ? text.length : newline + 1;
      if (this.#line >= this.#first) this.#keep(text.slice(from, to));
      this.#lineIsEmpty = false;
      if (newline !== -1) {
        this.#line += 1;
        this.#lineIsEmpty = true;
      }
      from = to;
    }
  }

  #keep(piece: string): void {
    if (this.#line > this.#last || this.#full) {
      this.#next ??= this.#line;
      return;
    }
    if (this.#kept.length + piece.length <= this.#room) {
      this.#kept += piece;
      return;
    }
    this.#full = true;
    const lineStart = this.#kept.lastIndexOf('\n') + 1;
    this.#next = this.#line;
    if (lineStart > 0) this.#kept = this.#kept.slice(0, lineStart);
    else this.#kept += piece.slice(0, this.#room - this.#kept.length);
  }

  /** True when nothing more can be kept. */
  get isDone(): boolean {
    return this.#next !== null;
  }

  /** `counted`: whether all lines were read, so that the total is known. */
  result(path: string, counted: boolean): JsonObject {
    const total = this.#lineIsEmpty ? this.#line - 1 : this.#line;
    if (this.#first > Math.max(total, 1))
      throw new HiError(
        'usage',
        `Cannot start at line ${this.#first}: '${path}' has only ${total} ${total === 1 ? 'line' : 'lines'}.`,
      );
    const whole = { content: this.#kept, ...(counted ? { total_lines: total } : {}) };
    if (this.#next === null) return whole;
    if (!this.#kept.includes('\n') && this.#full)
      return {
        ...whole,
        truncated: true,
        note: `Line ${this.#next} is too long; only its start is shown. Use bash (cut -c, grep -o) for the rest.`,
      };
    return {
      ...whole,
      truncated: true,
      next_offset: this.#next,
      note: `Use offset=${this.#next} to continue.`,
    };
  }
}
