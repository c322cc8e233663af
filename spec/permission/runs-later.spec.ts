import { describe, expect, it } from '@jest/globals';
import { runsLater } from '../../lib/permission/sandbox/runs-later.js';

describe('names from which a program runs something later', () => {
  it.each([
    ...['.gemini', '.opencode', 'opencode.json', '.kiro', '.windsurf', '.kilocode', '.amp'],
    ...['.ghci', '.octaverc', '.Renviron', 'activate', 'activate.fish', 'Activate.ps1'],
    ...['mise.toml', '.mise.toml', 'mise.local.toml', '.mise.local.toml', 'mise.test.toml', '.mise.test.local.toml'],
    ...['_darcs', '.bzr', '.fslckout', '_FOSSIL_', '.pijul', '.sl'],
  ])('include %s', (name) => {
    expect(runsLater(name)).toBe(true);
  });

  it.each(['gemini', 'package.json', 'octaverc', 'renviron', '.rgignore', 'amp', 'mise.md', 'promise.toml', 'darcs'])(
    'do not include %s',
    (name) => {
      expect(runsLater(name)).toBe(false);
    },
  );
});
