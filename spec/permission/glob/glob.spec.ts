import { describe, expect, it } from '@jest/globals';
import { escapeGlob, pathMatcher, unsupportedGlob } from '../../../lib/permission/glob/glob.js';

describe('a pattern of a rule', () => {
  it.each([
    ['/p/*.md', ['/p/a.md', '/p/.md', '/p/.x.md'], ['/p/a.txt', '/p/a/b.md', '/a.md']],
    ['/p/?', ['/p/a', '/p/😀'], ['/p/ab', '/p']],
    ['/p/[a-c]x', ['/p/ax', '/p/cx'], ['/p/dx', '/p/x']],
    ['/p/[!a-c]x', ['/p/dx'], ['/p/ax', '/p/x']],
    ['/p/[]-]', ['/p/]', '/p/-'], ['/p/a']],
    ['/p/[a', ['/p/[a'], ['/p/a']],
    ['/p/{a,b/c}.md', ['/p/a.md', '/p/b/c.md'], ['/p/b.md', '/p/{a,b/c}.md']],
    ['/p/{a}*', ['/p/{a}', '/p/{a}b'], ['/p/a']],
    ['/p/{a..c}', ['/p/a', '/p/b'], ['/p/d']],
    ['/p/**/x', ['/p/x', '/p/a/x', '/p/a/b/x'], ['/p/a/b', '/x']],
    ['/p/[ab]/**', ['/p/a', '/p/a/b/c'], ['/p/c/a']],
    ['/p/a*/**', ['/p/ab/c'], ['/p/ab', '/p/b/c']],
    ['/p/\\*', ['/p/*'], ['/p/a']],
    ['/p/(a)*', ['/p/(a)b'], ['/p/ab']],
  ])('%s matches what it says', (pattern, matching, others) => {
    const matches = pathMatcher(pattern);
    expect([...matching, ...others].filter(matches)).toEqual(matching);
  });

  it('takes a time that grows with its length times the length of the path, no more', () => {
    const begin = Date.now();
    expect(pathMatcher(`/${'*a'.repeat(100)}b`)(`/${'a'.repeat(4000)}`)).toBe(false);
    expect(pathMatcher(`${'/**/a'.repeat(100)}/b`)('/a'.repeat(2000))).toBe(false);
    expect(Date.now() - begin).toBeLessThan(5000);
  });

  it('has no special character left when it is escaped', () => {
    const name = '/[a]*?{b,c}\\d';
    expect(pathMatcher(escapeGlob(name))(name)).toBe(true);
    expect(pathMatcher(escapeGlob(name))('/a')).toBe(false);
  });

  it.each([
    ['!*.md', '!'],
    ['src/@(a|b)*', '@('],
    ['src/(a|b)*', '(a|b)'],
    ['[[:alpha:]]*', '[[:'],
    ['{1..20}', '{…}'],
    ['{a,b}'.repeat(9), '{…}'],
    ['src/(group)/[slug]/**/{a,b}*.t?', null],
  ])('is refused where a part of it is not supported: %s', (pattern, part) => {
    expect(unsupportedGlob(pattern)).toBe(part);
  });
});
