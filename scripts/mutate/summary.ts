import { scoreOf } from './score.js';

/** The result of a mutant: a status of Stryker, or `Endless` for an endless loop. */
export type Outcome = string;

/** The sample of a run: `drawn` mutants of a `total`, drawn with `seed`, or all of them if it is null. */
export interface Draw {
  readonly drawn: number;
  readonly total: number;
  readonly seed: number | null;
}

/**
 * The score in percent, and two lines of text: the number of mutants run, their results, and the accuracy of the score.
 */
export function summaryOf(
  outcomes: readonly Outcome[],
  { drawn, total, seed }: Draw,
): { readonly text: string; readonly score: number } {
  const of = (...names: readonly Outcome[]): number => outcomes.filter((outcome) => names.includes(outcome)).length;
  const { score, low, high } = scoreOf(of('Killed', 'Endless'), of('Survived', 'NoCoverage'));
  const run = `${outcomes.length} of ${drawn} ${seed === null ? 'mutants' : `drawn mutants of ${total}, seed ${seed}`}`;
  const isWhole = seed === null && outcomes.length === drawn;
  const interval = isWhole ? '' : `, 95 % interval ${low.toFixed(1)} to ${high.toFixed(1)} %`;
  const text =
    `${run}: ${of('Killed')} killed, ${of('Endless')} endless, ${of('Survived')} survived, ` +
    `${of('NoCoverage')} not reached, ${of('RuntimeError', 'CompileError')} invalid, ${of('Timeout')} too slow to tell\n` +
    `score ${score.toFixed(1)} %${interval}\n`;
  return { text, score };
}
