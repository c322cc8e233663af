import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { type Entry, isMessage } from '../../lib/chat/entry.js';
import { textOf } from '../../lib/chat/message.js';
import type { Home, Run } from './program.js';

/** What was asked and what came of it. */
export interface Asked {
  readonly question: string;
  readonly run: Run;
}

/**
 * What is wrong with a history after runs that each asked a question and were answered `answer to QUESTION`: nothing
 * that was acknowledged may be missing.
 */
export function losses(home: Home, asked: readonly Asked[]): readonly string[] {
  const entries: readonly Entry[] = JSON.parse(
    execFileSync('zstd', ['-dc', home.historyFile], { maxBuffer: 2 ** 30 }).toString(),
  );
  const messages = entries.filter(isMessage);
  const found: string[] = [];
  for (const { question, run } of asked) {
    if (run.status !== 0) found.push(`'${question}' ended with ${run.status}: ${run.stderr}`);
    if (run.status === 0 && run.stdout !== `answer to ${question}\n`) found.push(`'${question}' got '${run.stdout}'`);
    if (run.status === 0 && run.stderr !== '') found.push(`'${question}' was told '${run.stderr}'`);
    const questions = messages.filter(({ content }) => textOf(content) === question);
    const answers = messages.filter(({ content }) => textOf(content) === `answer to ${question}`);
    if (run.status === 0 && (questions.length !== 1 || answers.length !== 1 || answers[0]?.turn !== questions[0]?.id)) {
      found.push(`'${question}' is there ${questions.length} times, with ${answers.length} answers`);
    }
  }
  const ids = entries.map(({ id }) => id);
  if (ids.some((id, index) => id <= (ids[index - 1] ?? 0))) found.push('the ids do not ascend');
  const litter = readdirSync(home.data).filter((name) => /^history\.(damaged|lock|lost|new|turn)/.test(name));
  return [...found, ...litter];
}
