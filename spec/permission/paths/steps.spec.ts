import { posix, win32 } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { stepsOf } from '../../../lib/permission/paths/resolve-path.js';

describe('a path is followed from its root', () => {
  it.each([
    ['C:\\Users\\Ada\\notes.txt', 'C:\\', ['Users', 'Ada', 'notes.txt']],
    ['d:/work\\..\\x', 'd:/', ['work', '..', 'x']],
    ['\\\\server\\share\\a\\b', '\\\\server\\share\\', ['a', 'b']],
  ])('on Windows %s', (path, root, steps) => expect(stepsOf(path, win32)).toEqual({ root, steps }));

  it.each([
    ['/home/ada/../x', '/', ['home', 'ada', '..', 'x']],
    ['/odd\\name', '/', ['odd\\name']],
    ['a/b', '/', ['a', 'b']],
  ])('elsewhere %s', (path, root, steps) => expect(stepsOf(path, posix)).toEqual({ root, steps }));
});
