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

/** The lines of the documentation for what was tried. With HI_WRITE_SERVERS they are written; else those that are not there are told. */
export function tellTable(tried: readonly Tried[]): void {
  const lines = tried.map(
    ({ server, what, turns, summary }) => `| ${server} | ${what} | ${turns} | ${summary || '-'} |`,
  );
  const page = readFileSync(PAGE, 'utf8');
  if (process.env.HI_WRITE_SERVERS) {
    const head = ['| server | with | turns | summary |', '| --- | --- | --- | --- |'];
    const [before = '', rest = ''] = page.split(BEGIN);
    const after = rest.slice(rest.indexOf(END));
    writeFileSync(PAGE, `${before}${BEGIN}\n\n${[...head, ...lines].join('\n')}\n\n${after}`);
    return;
  }
  const missing = lines.filter((line) => !page.replaceAll(/ +/g, ' ').includes(line));
  if (missing.length > 0)
    process.stdout.write(`Not in docs/compatible-servers.md (HI_WRITE_SERVERS=1 writes it):\n${missing.join('\n')}\n`);
}
