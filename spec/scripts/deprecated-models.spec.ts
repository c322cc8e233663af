import { expect, it } from '@jest/globals';
import { deprecatedModels, namedDeprecated } from '../../scripts/deprecated-models.js';

it('finds a deprecated model by its whole name, with its end', () => {
  expect(deprecatedModels().get('claude-sonnet-4-5')).toBe('November 30th, 2026');
  const texts = [
    ['one', 'Ask `anthropic/claude-sonnet-4-5` today.'],
    ['two', 'Ask claude-sonnet-4-5-new.'],
  ] as const;
  expect(namedDeprecated(texts)).toEqual(["one names 'claude-sonnet-4-5', which ends on November 30th, 2026."]);
});
