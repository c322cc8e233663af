import { describe, expect, it } from '@jest/globals';
import { runsLater } from '../../lib/permission/sandbox/runs-later.js';

describe('names from which a program runs something later', () => {
  it.each(['.gemini', '.opencode', 'opencode.json', '.kiro', '.windsurf', '.ghci', '.octaverc', '.Renviron'])(
    'include %s',
    (name) => {
      expect(runsLater(name)).toBe(true);
    },
  );

  it.each(['gemini', 'package.json', 'octaverc', 'renviron', '.rgignore'])('do not include %s', (name) => {
    expect(runsLater(name)).toBe(false);
  });
});
