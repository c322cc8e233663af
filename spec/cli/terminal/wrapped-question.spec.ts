import { describe, expect, it } from '@jest/globals';
import { wrappedAnswer, wrappedQuestion } from '../../../lib/cli/ask/inquirer.js';

describe('a question', () => {
  it('is wrapped at words, with later rows indented to the first word', () => {
    expect(wrappedQuestion('Clear the conversation of 5 messages? A copy is kept.', 32)).toBe(
      'Clear the conversation of 5\n  messages? A copy is kept.',
    );
  });

  it('stays unchanged if it fits after the mark', () => {
    expect(wrappedQuestion('Which model?', 14)).toBe('Which model?');
    expect(wrappedQuestion('Which model?', 13)).toBe('Which\n  model?');
  });

  it('is followed by its answer, which is wrapped at words too', () => {
    const asked = (columns: number) => {
      const question = wrappedQuestion('Which provider do you want to use?', columns);
      return `? ${question} ${wrappedAnswer(question, 'OpenAI-compatible server (vLLM)', columns)}`;
    };
    expect(asked(80)).toBe('? Which provider do you want to use? OpenAI-compatible server (vLLM)');
    expect(asked(39)).toBe('? Which provider do you want to use? \n  OpenAI-compatible server (vLLM)');
    expect(asked(26)).toBe('? Which provider do you\n  want to use? \n  OpenAI-compatible server\n  (vLLM)');
  });
});
