import { describe, expect, it } from '@jest/globals';
import type { Confinement } from '../../lib/permission/sandbox/confinement.js';
import { SEATBELT_PROBE, seatbeltProfile } from '../../lib/permission/sandbox/seatbelt.js';

const READING: Confinement = {
  root: '/project',
  folder: '/project',
  grant: { write: false, network: false, files: [], read: [] },
  ...{ system: [], home: '/Users/me', readable: [], work: ['/project'], own: [], free: [] },
  ...{ hidden: [], kept: [], missing: [] },
  replaced: [],
  emptyFile: '/empty',
  temporary: '/temporary',
};

const rules = (more: Partial<Confinement>): readonly string[] => seatbeltProfile({ ...READING, ...more }).split('\n');

/**
 * The last rule about this operation and path, as sandbox-exec reads them: a filter is a path, or one and all below it.
 */
function decision(profile: readonly string[], operation: string, path: string): string | undefined {
  const covers = (rule: string): boolean => {
    const filters = [...rule.matchAll(/\((literal|subpath) "((?:[^"\\]|\\.)*)"\)/g)];
    if (filters.length === 0) return true;
    return filters.some(([, kind, text = '']) => {
      const place = text.replace(/\\(.)/g, '$1');
      return path === place || (kind === 'subpath' && path.startsWith(`${place}/`));
    });
  };
  const about = profile.filter((rule) => rule === '(allow default)' || rule.includes(`${operation}*`));
  return about.findLast(covers)?.slice(1, 6).trim();
}

describe('the profile for sandbox-exec', () => {
  it('is well-formed whatever a path contains', () => {
    const place = '/a "b" (c) \\d';
    for (const line of rules({
      hidden: [{ path: place, isFolder: false }],
      grant: { write: true, network: false, files: [place], read: [] },
    })) {
      const bare = line.replace(/"(?:[^"\\]|\\.)*"/g, '');
      expect([line, bare.split('(').length]).toEqual([line, bare.split(')').length]);
      expect([line, bare.includes('"')]).toEqual([line, false]);
    }
    expect(decision(rules({ hidden: [{ path: place, isFolder: false }] }), 'file-read', place)).toBe('deny');
  });

  it('has no rule about what is not granted, hidden or protected', () => {
    const profile = rules({});
    expect(profile.slice(0, 6)).toEqual([
      '(version 1)',
      '(allow default)',
      '(deny file-write*)',
      '(deny file-read* (subpath "/Users") (subpath "/Volumes") (subpath "/private/var/root"))',
      '(allow file-read* (subpath "/project"))',
      '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (subpath "/temporary"))',
    ]);
    expect(profile.slice(6).map((rule) => rule.slice(0, 20))).toEqual([
      '(deny network*)',
      '(deny signal) (allow',
      '(deny process-info* ',
      '(deny mach-lookup (g',
    ]);
    const writing = rules({
      grant: { write: true, network: false, files: [], read: [] },
      hidden: [{ path: '/project/x', isFolder: false }],
    });
    expect(writing.slice(6, -4)).toEqual([
      '(allow file-write* (subpath "/project"))',
      '(deny file-write* (subpath "/project/x"))',
      '(deny file-read* (subpath "/project/x"))',
      '(deny file-link (subpath "/project/x"))',
    ]);
  });

  it('lets a reading command write only to its temporary folder', () => {
    expect(decision(rules({}), 'file-write', '/temporary/x')).toBe('allow');
    for (const path of ['/project/x', '/etc/passwd', '/temporary2'])
      expect([path, decision(rules({}), 'file-write', path)]).toEqual([path, 'deny']);
  });

  it('lets it write the files of a redirection, and nothing else of the project', () => {
    const profile = rules({ grant: { write: false, network: false, files: ['/project/out'], read: [] } });
    expect(decision(profile, 'file-write', '/project/out')).toBe('allow');
    expect(decision(profile, 'file-write', '/project/out/below')).toBe('deny');
    expect(decision(profile, 'file-write', '/project/x')).toBe('deny');
  });

  it('lets a writing command neither change, move nor link what it cannot see', () => {
    const grant = { write: true, network: false, files: [], read: [] };
    const replaced = [{ path: '/project/.git/config', by: '/copy' }];
    const profile = rules({
      grant,
      hidden: [
        { path: '/project/a/b/.env', isFolder: false },
        { path: '/home/u/.ssh', isFolder: false },
      ],
      replaced,
    });
    for (const path of ['/project/a/b/.env', '/project/.git/config']) {
      expect([path, decision(profile, 'file-write', path)]).toEqual([path, 'deny']);
      expect([path, decision(profile, 'file-read', path)]).toEqual([path, 'deny']);
    }
    expect(profile).toContain(
      '(deny file-write-unlink (literal "/project/a") (literal "/project/a/b") (literal "/project/.git"))',
    );
    expect(profile).toContain(
      '(deny file-link (subpath "/project/a/b/.env") (subpath "/home/u/.ssh") (subpath "/project/.git/config"))',
    );
    expect(rules({ hidden: [{ path: '/project/a/b/.env', isFolder: false }] }).join()).not.toContain(
      'file-write-unlink',
    );
  });

  it('allows name lookups with the network, and no other socket of a program', () => {
    const profile = rules({ grant: { write: false, network: true, files: [], read: [] } });
    const [deny, allow] = profile.filter((rule) => rule.includes('network'));
    expect(deny).toBe('(deny network* (remote unix-socket))');
    expect(allow).toBe('(allow network-outbound (literal "/private/var/run/mDNSResponder"))');
    expect(rules({}).filter((rule) => rule.includes('network'))).toEqual(['(deny network*)']);
  });

  it('lets a writing command change the project, except for files that run later', () => {
    const grant = { write: true, network: false, files: [], read: [] };
    const profile = rules({ grant, kept: ['/project/.git'], missing: [{ path: '/project/.husky', isFolder: true }] });
    expect(decision(profile, 'file-write', '/project/src/x')).toBe('allow');
    for (const path of ['/project/.git', '/project/.git/hooks/x', '/project/.husky/x', '/home/x'])
      expect([path, decision(profile, 'file-write', path)]).toEqual([path, 'deny']);
    expect(decision(rules({ grant }), 'file-write', '/project/src/x')).toBe('allow');
  });

  it('hides private places, and shows what may be read in one', () => {
    const profile = rules({ own: [{ path: '/home/config', isFolder: true }], free: ['/home/config/skills'] });
    expect(decision(profile, 'file-read', '/home/config/key')).toBe('deny');
    expect(decision(profile, 'file-read', '/home/config/skills/a.md')).toBe('allow');
    expect(decision(profile, 'file-read', '/home/x')).toBe('allow');
  });

  it('denies the network, and allows all of it except local sockets', () => {
    expect(rules({})).toContain('(deny network*)');
    const open = rules({ grant: { write: false, network: true, files: [], read: [] } });
    expect(open).toContain('(deny network* (remote unix-socket))');
    expect(open).not.toContain('(deny network*)');
  });

  it('is tested with a rule of every kind, none of which affects a file of the user', () => {
    expect(seatbeltProfile(SEATBELT_PROBE).split('\n')).toEqual([
      '(version 1)',
      '(allow default)',
      '(deny file-write*)',
      '(deny file-read* (subpath "/Users") (subpath "/Volumes") (subpath "/private/var/root"))',
      '(allow file-read* (subpath "/private/tmp/hi-readable") (subpath "/private/tmp/hi-probe"))',
      '(allow file-read-metadata (literal "/private") (literal "/private/tmp"))',
      '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (subpath "/private/tmp/hi-temporary"))',
      '(allow file-write* (literal "/private/tmp/hi-file"))',
      '(allow file-write* (subpath "/private/tmp/hi-probe"))',
      '(deny file-write* (subpath "/private/tmp/hi-probe/a/hidden"))',
      '(deny file-write-unlink (literal "/private/tmp/hi-probe/a"))',
      '(allow file-read* (subpath "/private/tmp/hi-free"))',
      '(deny file-read* (subpath "/private/tmp/hi-probe/a/hidden"))',
      '(deny file-link (subpath "/private/tmp/hi-probe/a/hidden"))',
      '(deny network* (remote unix-socket))',
      '(allow network-outbound (literal "/private/var/run/mDNSResponder"))',
      '(deny signal) (allow signal (target same-sandbox))',
      '(deny process-info* (target others)) (deny appleevent-send) (deny lsopen)',
      [
        '(deny mach-lookup',
        '(global-name "com.apple.coreservices.launchservicesd")',
        '(global-name "com.apple.CoreServices.coreservicesd")',
        '(global-name "com.apple.SecurityServer")',
        '(global-name "com.apple.securityd")',
        '(global-name "com.apple.securityd.xpc")',
        '(global-name "com.apple.pasteboard.1"))',
      ].join(' '),
    ]);
  });
});
