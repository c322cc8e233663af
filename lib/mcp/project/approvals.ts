import { dirname } from 'node:path';
import { parseObject } from '../../chat/json.js';
import { makeFolder } from '../../folder.js';
import { readRegularFile } from '../../regular-file.js';
import { writeAside } from '../../write-aside.js';
import type { ProjectServer } from './project-servers.js';

/** The project servers that the user approved, each by its exact entry. */
export class Approvals {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  has({ hash }: ProjectServer): boolean {
    return this.#read()[hash] !== undefined;
  }

  /** Throws the system's error. */
  add({ hash, name }: ProjectServer): void {
    makeFolder(dirname(this.#path), 0o700);
    const kept = `${JSON.stringify({ ...this.#read(), [hash]: name }, null, 2)}\n`;
    writeAside(this.#path, kept, { mode: 0o600, synced: true });
  }

  #read(): Readonly<Record<string, unknown>> {
    try {
      return parseObject(readRegularFile(this.#path).toString()) ?? {};
    } catch {
      return {};
    }
  }
}
