import { describe, expect, it } from '@jest/globals';
import { pagerFor } from '../../lib/cli/commands/pager.js';

const REAL = { '/usr/bin/less': '/usr/bin/less' };

const pager = (
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
  platform: NodeJS.Platform = 'linux',
) => pagerFor({ PATH: '/usr/bin:/bin', ...env }, 'end', { platform, programAt: (path) => files[path] ?? null });

const command = (...given: Parameters<typeof pager>): string | undefined => pager(...given)?.command;

describe('the pager, where the user has chosen none', () => {
  it('is less', () => {
    expect(command({ '/bin/less': '/bin/less' })).toBe('less -FRX +G');
    expect(command({ '/usr/bin/less': '/nix/store/x/bin/less' }, {}, 'darwin')).toBe('less -FRX +G');
  });

  it('is none without less, with that of BusyBox, which knows neither its options nor colours, and on Windows', () => {
    expect(pager({})).toBeNull();
    expect(pager({ '/usr/bin/less': '/bin/busybox', '/bin/less': '/bin/less' })).toBeNull();
    expect(pager({ '/usr/bin/less': '/bin/busybox.static' })).toBeNull();
    expect(pager({ '/bin/less': '/bin/less' }, {}, 'win32')).toBeNull();
  });

  it('is the first in PATH, of absolute folders only', () => {
    expect(pager({ less: 'less', './less': './less' }, { PATH: ':.' })).toBeNull();
    expect(pagerFor({}, 'end', { platform: 'linux', programAt: () => '/x/less' })).toBeNull();
  });
});

describe('the pager in PAGER', () => {
  it('opens in colour at the end, whatever the options of its user, if it is less', () => {
    expect(command(REAL, { PAGER: 'less' })).toBe('less -FRX +G');
    expect(command(REAL, { PAGER: 'less', LESS: '-R' })).toBe('less -R +G');
    expect(command(REAL, { PAGER: '/usr/bin/less -S' })).toBe('/usr/bin/less -S -R +G');
    expect(pager(REAL, { PAGER: 'less -i' })?.takesColour).toBe(true);
  });

  it('does so through less, if it is bat', () => {
    expect(pager(REAL, { PAGER: 'bat' })?.env).toEqual({ BAT_PAGER: 'less -FRX +G', BAT_STYLE: 'plain' });
    expect(pager(REAL, { PAGER: 'bat', BAT_PAGER: 'ov' })?.env.BAT_PAGER).toBe('ov');
  });

  it('gets plain text and no options if it is another program or several', () => {
    for (const PAGER of ['more', 'col -b | less', 'most -s', "sh -c 'less'"])
      expect(pager(REAL, { PAGER })).toEqual({ command: PAGER, env: {}, takesColour: false });
    expect(pager({ '/usr/bin/less': '/bin/busybox' }, { PAGER: 'less' })).toMatchObject({ takesColour: false });
  });
});
