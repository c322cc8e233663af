import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { SubmittedLine } from '../../lib/repl/repl.js';
import { bundle } from './bundle.js';
import { openTerminal, type Terminal } from './terminal.js';

/** The REPL driver at its first prompt, in a folder of its own. */
export interface DrivenRepl {
  readonly terminal: Terminal;
  readonly folder: string;
  /** What was submitted so far. */
  submitted(): readonly SubmittedLine[];
}

export interface DriveOptions {
  /** An earlier driver's folder, to go on with its input history. */
  readonly folder?: string;
  readonly editor?: string;
  readonly columns?: number;
  readonly rows?: number;
}

/** Prepares a spec file for the REPL driver: what it returns starts one, and every one is ended after its spec. */
export function replDriver(): (options?: DriveOptions) => Promise<DrivenRepl> {
  let program = '';
  const open: Terminal[] = [];
  const folders: string[] = [];
  beforeAll(async () => {
    program = await bundle('spec/support/repl-driver.ts');
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((terminal) => terminal.close()));
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });
  afterAll(() => rmSync(dirname(program), { recursive: true, force: true }));

  return async ({ folder = mkdtempSync(join(tmpdir(), 'hi-repl-')), editor, columns = 80, rows = 24 } = {}) => {
    folders.push(folder);
    const log = join(folder, 'log');
    const env = { ...process.env, DRIVER_LOG: log, DRIVER_HISTORY: join(folder, 'inputs'), DRIVER_EDITOR: editor };
    const terminal = openTerminal(process.execPath, [program], { env, cwd: folder, columns, rows });
    open.push(terminal);
    await terminal.until('hi>');
    return { terminal, folder, submitted: () => readLog(log) };
  };
}

function readLog(file: string): readonly SubmittedLine[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line): SubmittedLine => JSON.parse(line));
}
