import { describe, expect, it } from '@jest/globals';
import { wrappedQuestion } from '../../../lib/cli/terminal/wrapped-question.js';

describe('a question', () => {
  it('is wrapped at words, below its first one', () => {
    expect(wrappedQuestion('Clear the conversation of 5 messages? A copy is kept.', 32)).toBe(
      'Clear the conversation of 5\n  messages? A copy is kept.',
    );
  });

  it('stays as it is where it fits, with the mark before it', () => {
    expect(wrappedQuestion('Which model?', 14)).toBe('Which model?');
    expect(wrappedQuestion('Which model?', 13)).toBe('Which\n  model?');
  });
});
