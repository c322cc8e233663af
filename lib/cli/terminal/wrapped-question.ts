import { wrapLines } from '../../screen/print.js';

/** What stands before a question: a mark and a blank. */
const MARK_WIDTH = 2;

/** A question wrapped at words. Its further rows begin below its first word, right of the mark before it. */
export const wrappedQuestion = (question: string, columns: number): string =>
  wrapLines(`${' '.repeat(MARK_WIDTH)}${question}`, columns).slice(MARK_WIDTH);
