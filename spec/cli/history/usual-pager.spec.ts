import { describe, expect, it } from '@jest/globals';
import { usualPager } from '../../../lib/cli/commands/history-command.js';

const pager = (files: Readonly<Record<string, string>>, platform: NodeJS.Platform = 'linux', PATH = '/usr/bin:/bin') =>
  usualPager({ PATH }, '-FRX', { platform, programAt: (path) => files[path] ?? null });

describe('the pager, where the user has chosen none', () => {
  it('is less', () => {
    expect(pager({ '/bin/less': '/bin/less' })).toBe('less -FRX');
    expect(pager({ '/usr/bin/less': '/nix/store/x/bin/less' }, 'darwin')).toBe('less -FRX');
  });

  it('is none without less, with that of BusyBox, which knows neither its options nor colours, and on Windows', () => {
    expect(pager({})).toBeNull();
    expect(pager({ '/usr/bin/less': '/bin/busybox', '/bin/less': '/bin/less' })).toBeNull();
    expect(pager({ '/usr/bin/less': '/bin/busybox.static' })).toBeNull();
    expect(pager({ '/bin/less': '/bin/less' }, 'win32')).toBeNull();
  });

  it('is the first in PATH, of absolute folders only', () => {
    expect(pager({ less: 'less', './less': './less' }, 'linux', ':.')).toBeNull();
    expect(usualPager({}, '-FRX', { platform: 'linux', programAt: () => '/x/less' })).toBeNull();
  });
});
