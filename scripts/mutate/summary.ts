import { scoreOf } from './score.js';

/** What became of a mutant: a status of Stryker, or `Endless` for a loop that no longer ends. */
export type Outcome = string;

/** What a run tried: `drawn` mutants of a `total`, drawn by `seed`, or all of them when it is null. */
export interface Draw {
  readonly drawn: number;
  readonly total: number;
  readonly seed: number | null;
}

/** The score in percent, and the two lines that tell it: how many of the drawn mutants were run, what became of them, and how sure the score is. */
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
