import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { MutantResult } from '@stryker-mutator/api/core';
import { type Injector, type PluginContext, PluginKind } from '@stryker-mutator/api/plugin';
import type { MutationTestingPlanReadyEvent, Reporter } from '@stryker-mutator/api/report';
import {
  type DryRunResult,
  DryRunStatus,
  type MutantRunOptions,
  type MutantRunResult,
  MutantRunStatus,
  type TestRunner,
} from '@stryker-mutator/api/test-runner';
import { strykerPlugins as jestPlugins } from '@stryker-mutator/jest-runner';
import { drawEvenly } from './draw.js';
import { summaryOf } from './summary.js';

/**
 * The options that `scripts/mutate.ts` passes to its plugin in an environment variable, because Stryker runs the plugin
 * in separate processes.
 */
export interface SampleOptions {
  /** The folder in which those processes exchange files. */
  readonly folder: string;
  /** How many mutants to run; null for all of them. */
  readonly sample: number | null;
  readonly seed: number;
}

/** The variable with the only spec file to run, which the `filter` of Jest's configuration reads. */
const SPECS = 'HI_MUTATE_SPECS';

/** Facts about the specs from the first run: the file of each, and how long each file took. */
interface Specs {
  readonly files: readonly (readonly [id: string, files: readonly string[]])[];
  readonly times: readonly (readonly [file: string, milliseconds: number])[];
}

const options: SampleOptions = JSON.parse(process.env.HI_MUTATE ?? '{}');
const drawnFile = join(options.folder, 'drawn.json');
const specsFile = join(options.folder, 'specs.json');

/**
 * Runs Jest, with two differences. It skips mutants that were not drawn. And it runs spec files one by one until one
 * notices the mutant: only those whose specs reach it, fast ones first, and before these the one that noticed the last
 * mutant of the same file. Stryker's own runner always loads all of them, which takes most of the time.
 */
class SampleRunner implements TestRunner {
  readonly #jest: TestRunner;
  #drawn: ReadonlySet<string> | null = null;
  #specs: ReadonlyMap<string, readonly string[]> = new Map();
  #times: ReadonlyMap<string, number> = new Map();
  /** The spec file that noticed the last mutant of each file. */
  readonly #noticed = new Map<string, string>();

  constructor(jest: TestRunner) {
    this.#jest = jest;
  }

  capabilities() {
    return this.#jest.capabilities();
  }

  async init(): Promise<void> {
    await this.#jest.init?.();
  }

  async dryRun(run: Parameters<TestRunner['dryRun']>[0]): Promise<DryRunResult> {
    const result = await this.#jest.dryRun(run);
    if (result.status !== DryRunStatus.Complete) return result;
    const files = new Map<string, string[]>();
    const times = new Map<string, number>();
    for (const { id, fileName, timeSpentMs } of result.tests) {
      if (fileName === undefined) continue;
      files.set(id, [...(files.get(id) ?? []), fileName]);
      times.set(fileName, (times.get(fileName) ?? 0) + timeSpentMs);
    }
    const specs: Specs = { files: [...files], times: [...times] };
    writeFileSync(specsFile, JSON.stringify(specs));
    return result;
  }

  async mutantRun(run: MutantRunOptions): Promise<MutantRunResult> {
    this.#drawn ??= this.#readPlan();
    if (!this.#drawn.has(run.activeMutant.id)) return { status: MutantRunStatus.Error, errorMessage: 'not drawn' };
    const { fileName } = run.activeMutant;
    let result: MutantRunResult = { status: MutantRunStatus.Survived, nrOfTests: 0 };
    for (const spec of this.#specsFor(run.testFilter ?? [...this.#specs.keys()], fileName)) {
      process.env[SPECS] = spec;
      result = await this.#jest.mutantRun(run).finally(() => delete process.env[SPECS]);
      if (result.status === MutantRunStatus.Survived) continue;
      this.#noticed.set(fileName, spec);
      return result;
    }
    return result;
  }

  #readPlan(): ReadonlySet<string> {
    const { files, times } = read<Specs>(specsFile);
    this.#specs = new Map(files);
    this.#times = new Map(times);
    return new Set(read<string[]>(drawnFile));
  }

  #specsFor(tests: readonly string[], fileName: string): readonly string[] {
    const files = [...new Set(tests.flatMap((id) => this.#specs.get(id) ?? []))];
    const first = this.#noticed.get(fileName);
    const time = (file: string): number => (file === first ? 0 : (this.#times.get(file) ?? 0));
    return files.sort((one, other) => time(one) - time(other));
  }

  async dispose(): Promise<void> {
    await this.#jest.dispose?.();
  }
}

function read<Value>(path: string): Value {
  return JSON.parse(readFileSync(path, 'utf8'));
}

/**
 * Draws the sample when all mutants are known, and reports each drawn mutant that survived, and the score at the end or
 * when stopped.
 */
class SampleReporter implements Reporter {
  #drawn: ReadonlySet<string> = new Set();
  readonly #results: MutantResult[] = [];
  /** The lines of the files at the time of creating the mutants. */
  readonly #sources = new Map<string, readonly string[]>();
  #total = 0;
  #isOver = false;

  onMutationTestingPlanReady({ mutantPlans }: MutationTestingPlanReadyEvent): void {
    for (const { fileName } of mutantPlans.map(({ mutant }) => mutant))
      if (!this.#sources.has(fileName)) this.#sources.set(fileName, linesOf(fileName));
    const ids = mutantPlans.filter(({ mutant }) => mutant.status === undefined).map(({ mutant }) => mutant.id);
    const drawn = options.sample === null ? ids : drawEvenly(ids, options.sample, options.seed);
    this.#drawn = new Set(drawn);
    this.#total = ids.length;
    writeFileSync(drawnFile, JSON.stringify(drawn));
    // Stryker exits at once when it is stopped.
    process.once('exit', () => {
      if (!this.#isOver) this.wrapUp();
    });
  }

  onMutantTested(result: Readonly<MutantResult>): void {
    if (!this.#drawn.has(result.id)) return;
    this.#results.push(result);
    if (outcomeOf(result) !== 'Killed')
      process.stdout.write(describe(result, this.#sources.get(result.fileName) ?? []));
  }

  wrapUp(): void {
    this.#isOver = true;
    const { sample, seed, folder } = options;
    const draw = { drawn: this.#drawn.size, total: this.#total, seed: sample === null ? null : seed };
    const { text, score } = summaryOf(this.#results.map(outcomeOf), draw);
    process.stdout.write(`\n${text}`);
    writeFileSync(join(folder, 'score.json'), JSON.stringify({ score }));
  }
}

/**
 * The status, which distinguishes endless loops from slow specs: Stryker counts how often a mutant is run, and ends an
 * endless loop at a limit. A timeout on a busy machine says nothing about the specs.
 */
function outcomeOf({ status, statusReason = '' }: Readonly<MutantResult>): string {
  if (status === 'Timeout' && statusReason.startsWith('Hit limit')) return 'Endless';
  return status === 'Killed' && /Exceeded timeout of \d+ ms/.test(statusReason) ? 'Timeout' : status;
}

/** Empty for a file that was moved since: the mutants are created in a copy, which takes a while. */
function linesOf(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
}

function describe(result: Readonly<MutantResult>, source: readonly string[]): string {
  const { fileName, location, mutatorName, replacement } = result;
  const { start, end } = location;
  const lines = source.slice(start.line - 1, end.line);
  const last = lines.length - 1;
  const original = lines
    .map((line, at) => line.slice(at === 0 ? start.column - 1 : 0, at === last ? end.column - 1 : undefined))
    .join('\n');
  const place = `${relative(process.cwd(), fileName)}:${start.line}:${start.column}`;
  return `\n${outcomeOf(result)} ${place} ${mutatorName}\n${indent('-', original)}\n${indent('+', replacement)}\n`;
}

function indent(mark: string, text: string): string {
  const lines = text.split('\n');
  const shown = lines.length <= 8 ? lines : [...lines.slice(0, 6), '…'];
  return shown.map((line) => `  ${mark} ${line}`).join('\n');
}

function createRunner(injector: Injector<PluginContext>): TestRunner {
  const plugin = jestPlugins.find(({ name }) => name === 'jest');
  if (plugin === undefined) throw new Error('@stryker-mutator/jest-runner no longer has a plugin "jest".');
  return new SampleRunner(injector.injectFunction(plugin.factory));
}
createRunner.inject = ['$injector'] as const;

export const strykerPlugins = [
  { kind: PluginKind.TestRunner, name: 'jest-sample', factory: createRunner },
  { kind: PluginKind.Reporter, name: 'sample', injectableClass: SampleReporter },
];
