// Runs the official conformance suite of the Model Context Protocol: every scenario that a revision requires of
// clients, with `hi mcp test` and with `hi ask`. Fetches the suite from npm. `npm run test:conformance -- auth` runs
// the scenarios whose names contain `auth`; `-- --write` writes the table in docs/mcp.md.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { playUser, WAYS, type Way } from './conformance/client.js';
import {
  hasSuite,
  type Outcome,
  REVISIONS,
  type Revision,
  requiredScenarios,
  runScenario,
} from './conformance/suite.js';
import { type Row, withResults } from './conformance/table.js';

const PAGE = 'docs/mcp.md';
/** The number of scenarios at a time: the suite, a server and hi share two cores. */
const AT_ONCE = 2;

interface Job {
  readonly scenario: string;
  readonly revision: Revision;
  readonly way: Way;
}

async function runAll(words: readonly string[]): Promise<number> {
  const names = words.filter((word) => !word.startsWith('--'));
  const jobs = jobsOf().filter(({ scenario }) => names.length === 0 || names.some((name) => scenario.includes(name)));
  const folder = mkdtempSync(join(tmpdir(), 'hi-conformance-'));
  const outcomes = new Map<Job, Outcome>();
  const waiting = [...jobs];
  try {
    const work = async (): Promise<void> => {
      for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
        outcomes.set(job, await run(job, join(folder, String(outcomes.size + waiting.length * jobs.length))));
        report(job, outcomes.get(job));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return summary(jobs, outcomes, words.includes('--write'));
}

/** Every scenario in every way. */
function jobsOf(): readonly Job[] {
  return REVISIONS.flatMap((revision) =>
    requiredScenarios(revision).flatMap((scenario) => WAYS.map((way) => ({ scenario, revision, way }))),
  );
}

async function run({ scenario, revision, way }: Job, results: string): Promise<Outcome> {
  const command = `${process.execPath} ${import.meta.filename} client ${way.replace(' ', '-')}`;
  return await runScenario(command, scenario, revision, results);
}

const titleOf = ({ scenario, revision, way }: Job): string => `${revision}  ${scenario}, hi ${way}`;

function report(job: Job, outcome: Outcome | undefined): void {
  if (outcome === undefined) return;
  console.log(`  ${outcome.hasPassed ? 'ok   ' : 'WRONG'}  ${titleOf(job)}`);
  if (outcome.hasPassed) return;
  for (const failure of outcome.failures) console.log(`         ${failure}`);
  if (process.env.HI_CONFORMANCE_OUTPUT !== undefined) console.log(outcome.output);
}

function summary(jobs: readonly Job[], outcomes: ReadonlyMap<Job, Outcome>, write: boolean): number {
  const failed = jobs.filter((job) => outcomes.get(job)?.hasPassed === false);
  console.log(`${outcomes.size - failed.length} passed, ${failed.length} failed, 0 skipped`);
  if (write) {
    const rows: Row[] = jobs.map((job) => ({ ...job, hasPassed: outcomes.get(job)?.hasPassed ?? null }));
    writeFileSync(PAGE, withResults(readFileSync(PAGE, 'utf8'), rows));
  }
  return failed.length === 0 ? 0 : 1;
}

const [first, ...rest] = process.argv.slice(2);
if (first === 'client') {
  const way = WAYS.find((one) => one.replace(' ', '-') === rest[0]);
  process.exitCode = way === undefined ? 2 : await playUser(way, rest[1] ?? '');
} else if (hasSuite()) process.exitCode = await runAll([first, ...rest].filter((word) => word !== undefined));
else console.log('0 passed, 0 failed, 1 skipped');
