import { describe, expect, it } from '@jest/globals';
import { homesIn, otherHomes } from '../../../lib/permission/sandbox/other-homes.js';

const homes = (...lines: readonly string[]) => homesIn(lines.join('\n'), '/home/me');

describe('the home folders of others', () => {
  it.each([
    ['a user', 'ann:x:1001:1001:Ann:/home/ann:/bin/bash', ['/home/ann']],
    ['the first user', 'ann:x:1000:1000::/home/ann:/bin/sh', ['/home/ann']],
    ['the administrator', 'root:x:0:0:root:/root:/bin/bash', ['/root']],
    ['an account of the system', 'mail:x:999:999::/var/mail:/usr/sbin/nologin', []],
    ['the user', 'me:x:1002:1002::/home/me:/bin/sh', []],
    ['an account in the home folder', 'sub:x:1003:1003::/home/me/sub:/bin/sh', []],
    ['an account whose folder contains it', 'all:x:1004:1004::/home:/bin/sh', []],
    ['an account without a folder of its own', 'nobody:x:65534:65534::/:/bin/sh', []],
    ['a folder whose name begins like it', 'mel:x:1005:1005::/home/mel:/bin/sh', ['/home/mel']],
    ['a folder that is no path', 'odd:x:1006:1006::home/odd/:/bin/sh', []],
    ['a line without fields', 'ann', []],
    ['a line that ends before the folder', 'ann:x:1007:1007', []],
    ['an id that is no number', 'ann:x:-:1:-:/home/ann:/bin/sh', []],
  ])('are known from the accounts: %s', (_what, line, expected) => {
    expect(homes(line)).toEqual(expected);
  });

  it('are those of all lines', () => {
    expect(homes('a:x:0:0::/a:', 'b:x:5:5::/b:', 'c:x:2000:1::/c:', '')).toEqual(['/a', '/c']);
  });

  it('are read from the list of this system, where there is one', () => {
    const found = otherHomes('/nowhere/at/all');
    for (const path of found) expect(path).toMatch(/^\/./);
    // Each system that has the list has an administrator.
    if (process.platform === 'linux') expect(found).toContain('/root');
  });
});
