import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** What was tried with a server, and held. */
export interface Tried {
  readonly server: string;
  readonly what: string;
  readonly turns: number;
  /** Where the summary was found after a compaction; empty where none was made. */
  readonly summary: string;
}

const PAGE = resolve(import.meta.dirname, '../../docs/compatible-servers.md');
const [BEGIN, END] = ['<!-- Written by npm run test:servers -->', '<!-- end -->'];

/**
 * The lines of the documentation for what was tried. With HI_WRITE_SERVERS they are written, each in place of its last
 * one; else those that are not there are told.
 */
export function tellTable(tried: readonly Tried[]): void {
  const page = readFileSync(PAGE, 'utf8');
  const [before = '', rest = ''] = page.split(BEGIN);
  const at = rest.indexOf(END);
  const lines = new Map(
    rest
      .slice(0, at)
      .split('\n')
      .filter(isRow)
      .map((line) => [keyOf(line), line]),
  );
  const missing: string[] = [];
  for (const { server, what, turns, summary } of tried) {
    const line = `| ${server} | ${what} | ${turns} | ${summary || '-'} |`;
    if (lines.get(keyOf(line)) !== line) missing.push(line);
    lines.set(keyOf(line), line);
  }
  if (missing.length === 0) return;
  if (!process.env.HI_WRITE_SERVERS) {
    process.stdout.write(`Not in docs/compatible-servers.md (HI_WRITE_SERVERS=1 writes it):\n${missing.join('\n')}\n`);
    return;
  }
  const head = ['| server | with | turns | summary |', '| --- | --- | --- | --- |'];
  writeFileSync(
    PAGE,
    `${before}${BEGIN}\n\n${[...head, ...[...lines.values()].toSorted()].join('\n')}\n\n${rest.slice(at)}`,
  );
}

const isRow = (line: string): boolean => line.startsWith('| ') && !/^\| (?:server|---) /.test(line);

/** The server, and what was tried with it. */
const keyOf = (line: string): string => line.split(' | ').slice(0, 2).join(' | ');
