import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import type { ValidateFunction } from 'ajv';
import { isTooDeep, MAX_LEVELS } from '../chat/json.js';
import { readRegularFile, requireRegularFile } from '../disk.js';
import { HiError, systemCode } from '../errors.js';
import { monotonic } from '../waits.js';
import type { ConfigFile } from './config.js';
import { validateConfig } from './validate-config.js';

/** The checks of a parsed file: a fast one that only accepts or refuses, and one that explains every error. */
export interface ConfigCheck {
  accepts(value: unknown): value is ConfigFile;
  explaining(): Promise<ValidateFunction<ConfigFile>>;
}

/** A configuration file that was read. */
interface FoundConfig {
  readonly file: ConfigFile | null;
  /** Problems that do not prevent its use, as sentences. */
  readonly warnings: readonly string[];
}

/**
 * Reads and checks `config.json`. A missing file is not an error unless `required` (the user named it).
 * Throws a `HiError` of code `config` for a file that cannot be read, is not JSON, or breaks the schema.
 */
export async function readConfig(path: string, check: ConfigCheck, required: boolean): Promise<FoundConfig> {
  const text = readText(path, required);
  if (text === null) return { file: null, warnings: [] };
  const value = parseConfig(text, path);
  const file = check.accepts(value) ? value : await explained(value, check, path);
  return { file, warnings: permissionWarnings(path) };
}

/** Checks a refused value again with the validator that explains the errors. */
async function explained(value: unknown, check: ConfigCheck, path: string): Promise<ConfigFile> {
  return validateConfig(value, await check.explaining(), path);
}

function readText(path: string, required: boolean): string | null {
  try {
    return required ? readNamedFile(path) : readRegularFile(path).toString();
  } catch (cause) {
    const code = systemCode(cause);
    if (code === 'ENOENT' && !required) return null;
    if (code === 'ENOENT') {
      throw new HiError('config', `There is no file '${path}'.`, {
        hint: 'Check the path that you gave with --config.',
        cause,
      });
    }
    throw new HiError('config', `Cannot read '${path}': ${code ?? String(cause)}.`, { hint: remedyFor(code), cause });
  }
}

function remedyFor(code: string | null): string {
  if (code === 'EISDIR') return 'It is a folder; it must be a file.';
  return code === 'EFTYPE' ? 'It is a pipe or a device; it must be a file.' : 'Check its permissions.';
}

/**
 * Parses a config.json, with or without a byte order mark. Throws a `HiError` of code `config` for text that is not
 * JSON or is nested too deeply.
 */
export function parseConfig(text: string, path: string): unknown {
  const value = parsed(text, path);
  if (!isTooDeep(value)) return value;
  throw new HiError('config', `${path} is nested more than ${MAX_LEVELS} levels deep.`, {
    hint: "Fix the file, or move it away and run 'hi config init'.",
  });
}

function parsed(text: string, path: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    throw new HiError('config', `${path} is not valid JSON: ${place(text, cause)}`, {
      hint: "Fix the file, or move it away and run 'hi config init'.",
      cause,
    });
  }
}

/** Depending on its version and the error, Node gives a position in the text, a line and column, or neither. */
function place(text: string, cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause);
  const at = /position (\d+)/.exec(message)?.[1];
  if (at === undefined || message.includes('line')) return message;
  const before = text.slice(0, Number(at)).split('\n');
  return `${message} (line ${before.length}, column ${(before.at(-1) ?? '').length + 1})`;
}

function permissionWarnings(path: string): readonly string[] {
  if (process.platform === 'win32') return [];
  const mode = statSync(path).mode & 0o777;
  if ((mode & 0o077) === 0) return [];
  return [`Other users can read '${path}' (mode ${mode.toString(8)}). Run: chmod 600 '${path}'`];
}

/** How long a pipe may stay silent, in milliseconds. */
const QUIET_LIMIT = 2000;
const INTERVAL = 10;

/**
 * The text of a file that the user names. It may be a pipe: `--config <(…)`. Throws system errors, and EFTYPE for a
 * pipe that stays silent.
 */
function readNamedFile(path: string): string {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(descriptor);
    return found.isFIFO() ? readPipe(descriptor, path) : readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

function readPipe(descriptor: number, path: string): string {
  const chunks: Buffer[] = [];
  let quietSince = monotonic();
  for (;;) {
    const chunk = readSome(descriptor);
    if (chunk === 'end' && chunks.length > 0) return Buffer.concat(chunks).toString();
    if (typeof chunk !== 'string') {
      chunks.push(chunk);
      quietSince = monotonic();
    } else if (monotonic() - quietSince > QUIET_LIMIT) {
      requireRegularFile(path);
      return '';
    } else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, INTERVAL);
  }
}

/** The bytes that are available now. A pipe that no process has opened for writing yet also reads as `end`. */
function readSome(descriptor: number): Buffer | 'nothing' | 'end' {
  const buffer = Buffer.alloc(65_536);
  try {
    const size = readSync(descriptor, buffer);
    return size === 0 ? 'end' : buffer.subarray(0, size);
  } catch (failure) {
    if (systemCode(failure) === 'EAGAIN') return 'nothing';
    throw failure;
  }
}
