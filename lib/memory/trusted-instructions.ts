import { createHash } from 'node:crypto';
import { dirname, relative } from 'node:path';
import { isJsonObject, parseObject } from '../chat/json.js';
import { firstCharacters } from '../chat/text.js';
import { makeFolder } from '../folder.js';
import { readRegularFile } from '../regular-file.js';
import { writeAside } from '../write-aside.js';
import type { InstructionFile } from './find-instructions.js';

/** A file of instructions with its content. */
export interface Instructions {
  /** Its path relative to the working folder. */
  readonly name: string;
  readonly text: string;
  readonly hash: string;
}

/** How much of one file is read. Characters. */
const LARGEST = 32_000;

/** Reads the files that can be read; empty ones are left out. */
export function readInstructions(files: readonly InstructionFile[], cwd: string): readonly Instructions[] {
  return files.flatMap(({ path }): Instructions[] => {
    const text = firstCharacters(textOf(path), LARGEST).trim();
    const hash = createHash('sha256').update(text).digest('hex');
    return text === '' ? [] : [{ name: relative(cwd, path), text, hash }];
  });
}

function textOf(path: string): string {
  try {
    const bytes = readRegularFile(path);
    return bytes.includes(0) ? '' : bytes.toString('utf8');
  } catch {
    return '';
  }
}

/** The user's answers, by content hash. */
export class Answers {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** Null if the user was never asked. */
  of({ hash }: Instructions): boolean | null {
    const answer = this.#read()[hash];
    return typeof answer === 'boolean' ? answer : null;
  }

  /** Stores an answer. Never fails: at worst the user is asked again. */
  keep(instructions: readonly Instructions[], answer: boolean): void {
    try {
      makeFolder(dirname(this.#path), 0o700);
      const added = Object.fromEntries(instructions.map(({ hash }) => [hash, answer]));
      writeAside(this.#path, `${JSON.stringify({ ...this.#read(), ...added }, null, 2)}\n`, {
        mode: 0o600,
        synced: false,
      });
    } catch {}
  }

  #read(): Readonly<Record<string, unknown>> {
    try {
      const stored = parseObject(readRegularFile(this.#path).toString());
      return isJsonObject(stored) ? stored : {};
    } catch {
      return {};
    }
  }
}
