import { describe, expect, it } from '@jest/globals';
import {
  ANYTHING,
  escapeGlob,
  expandBraces,
  fixedName,
  matchesName,
  namePattern,
  pathMatcher,
  unsupportedGlob,
} from '../../../lib/permission/glob/glob.js';

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
    ['/p/{xa..c}', [], ['/p/a', '/p/xa']],
    ['/p/{a,b}{c,d}', ['/p/ac', '/p/bd'], ['/p/a', '/p/cd']],
    ['/p/**/**/x', ['/p/x', '/p/a/b/x'], ['/x']],
    ['/p/**', ['/p', '/p/a/b'], ['/q', '/pa']],
    ['/p/a*/**/b', ['/p/ab/b', '/p/ab/c/b'], ['/p/b']],
    ['//p//x/', ['/p/x', '/p//x/'], ['/px']],
    ['/p/**a', ['/p/ba'], ['/p/b/a']],
    ['/p/**/x', ['/p/x', '/p/a/x', '/p/a/b/x'], ['/p/a/b', '/x']],
    ['/p/[ab]/**', ['/p/a', '/p/a/b/c'], ['/p/c/a']],
    ['/p/a*/**', ['/p/ab/c'], ['/p/ab', '/p/b/c']],
    ['/p/\\*', ['/p/*'], ['/p/a']],
    ['/p/(a)*', ['/p/(a)b'], ['/p/ab']],
  ])('%s matches what it says', (pattern, matching, others) => {
    const matches = pathMatcher(pattern);
    expect([...matching, ...others].filter(matches)).toEqual(matching);
  });

  it('takes at most a time proportional to its length times the length of the path', () => {
    const begin = Date.now();
    expect(pathMatcher(`/${'*a'.repeat(100)}b`)(`/${'a'.repeat(4000)}`)).toBe(false);
    expect(pathMatcher(`${'/**/a'.repeat(100)}/b`)('/a'.repeat(2000))).toBe(false);
    expect(Date.now() - begin).toBeLessThan(5000);
  });

  it('contains no special character after escaping', () => {
    const name = '/[a]*?{b,c}\\d';
    expect(pathMatcher(escapeGlob(name))(name)).toBe(true);
    expect(pathMatcher(escapeGlob(name))('/a')).toBe(false);
  });

  it.each([
    ['!*.md', '!'],
    ['a!*.md', null],
    ['a)b|c', null],
    ['(a)(b|c)', '(b|c)'],
    ['a(b)|c)', null],
    ['x|(y)', null],
    ['{a,b,c,d,e,f,g,h,i,j}{a,b,c,d,e,f,g,h,i,j}{a,b}', null],
    ['src/@(a|b)*', '@('],
    ['src/(a|b)*', '(a|b)'],
    ['[[:alpha:]]*', '[[:'],
    ['{1..20}', '{…}'],
    ['{a,b}'.repeat(9), '{…}'],
    ['src/(group)/[slug]/**/{a,b}*.t?', null],
  ])('is refused if a part of it is not supported: %s', (pattern, part) => {
    expect(unsupportedGlob(pattern)).toBe(part);
  });

  it('matches one name if it contains no special character', () => {
    const fixed = (text: string) => fixedName(namePattern(text));
    expect([fixed('a.b'), fixed('\\*x'), fixed(''), fixed('a*'), fixed('?'), fixed('[a]')]).toEqual([
      'a.b',
      '*x',
      '',
      null,
      null,
      null,
    ]);
  });

  it('may contain unknown text', () => {
    expect(['a', 'axb', '.xb', 'xb'].map((name) => matchesName(namePattern(`${ANYTHING}b`), name))).toEqual([
      false,
      true,
      true,
      true,
    ]);
    expect(ANYTHING).toHaveLength(1);
    expect(matchesName(namePattern('a'), '')).toBe(false);
  });

  it('is expanded to the words in its braces, as far as these are known', () => {
    const same = (inside: string) => `<${inside}>`;
    expect(expandBraces('a{b,c{d,e}}f', same)).toEqual(['abf', 'acdf', 'abf', 'acef']);
    expect(expandBraces('{a}{b,}x', same)).toEqual(['<a>bx', '<a>x']);
    expect(expandBraces('a\\{b,c}', same)).toEqual(['a\\{b,c}']);
    expect(expandBraces('{a\\,b,c}', same)).toEqual(['a\\,b', 'c']);
    expect(expandBraces('{a}{b,c}', () => null)).toBeNull();
    expect(expandBraces('{$&,$1}', same)).toEqual(['$&', '$1']);
    expect(expandBraces('plain', same)).toEqual(['plain']);
  });
});
