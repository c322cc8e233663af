import { WAYS, type Way } from './client.js';
import { REVISIONS, type Revision } from './suite.js';

/** One cell of the table. */
export interface Row {
  readonly scenario: string;
  readonly revision: Revision;
  readonly way: Way;
  /** Null if it was not run. */
  readonly hasPassed: boolean | null;
}

const TABLE =
  /(<!-- conformance: written by npm run test:conformance -- --write -->\n)[\s\S]*?(<!-- end of conformance -->)/;

/** The page with these results in its table. Throws if the page has no place for it. */
export function withResults(page: string, rows: readonly Row[]): string {
  if (!TABLE.test(page)) throw new Error('The page has no place for the results of the suite.');
  return page.replace(TABLE, (_all, before: string, after: string) => `${before}\n${tableOf(rows)}\n\n${after}`);
}

function tableOf(rows: readonly Row[]): string {
  const columns = REVISIONS.flatMap((revision) => WAYS.map((way) => ({ revision, way })));
  const scenarios = [...new Set(rows.map(({ scenario }) => scenario))].sort();
  const cell = (scenario: string, column: (typeof columns)[number]): string => {
    const row = rows.find(
      (one) => one.scenario === scenario && one.revision === column.revision && one.way === column.way,
    );
    if (row === undefined) return '';
    return row.hasPassed === null ? 'not run' : row.hasPassed ? 'passed' : 'failed';
  };
  const lines = [
    ['scenario', ...columns.map(({ revision, way }) => `${revision}, \`hi ${way}\``)],
    ['---', ...columns.map(() => '---')],
    ...scenarios.map((scenario) => [`\`${scenario}\``, ...columns.map((column) => cell(scenario, column))]),
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
