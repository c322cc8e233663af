import { describe, expect, it } from '@jest/globals';
import { wrappedQuestion } from '../../../lib/cli/ask/inquirer.js';

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
});
