import { dirname } from 'node:path';
import { isInside } from '../paths/resolve-path.js';
import type { Confinement } from './confinement.js';

const quoted = (path: string): string => `"${path.replace(/["\\]/g, '\\$&')}"`;
const subpaths = (paths: readonly string[]): string => paths.map((path) => `(subpath ${quoted(path)})`).join(' ');

const literals = (paths: readonly string[]): string => paths.map((path) => `(literal ${quoted(path)})`).join(' ');

/** Services of macOS that start programs outside of the sandbox, or give access to the keychain or the clipboard. */
const SERVICES = [
  ...['com.apple.coreservices.launchservicesd', 'com.apple.CoreServices.coreservicesd'],
  ...['com.apple.SecurityServer', 'com.apple.securityd', 'com.apple.securityd.xpc', 'com.apple.pasteboard.1'],
];

/** Host names are resolved through this socket. */
const RESOLVER = '/private/var/run/mDNSResponder';

/** The folders of users and their disks, which are closed but for what a confinement shows of them. */
const CLOSED = ['/Users', '/Volumes', '/private/var/root'];

/** A profile with every kind of rule, to check that this system accepts them all. */
export const SEATBELT_PROBE: Confinement = {
  ...{
    root: '/private/tmp/hi-probe',
    folder: '/',
    grant: { write: true, network: true, files: ['/private/tmp/hi-file'], read: [] },
  },
  ...{ system: [], home: '/Users/hi', readable: [{ kind: 'read', path: '/private/tmp/hi-readable' }] },
  ...{ work: ['/private/tmp/hi-probe'], own: [], free: ['/private/tmp/hi-free'] },
  ...{ hidden: [{ path: '/private/tmp/hi-probe/a/hidden', isFolder: false }], kept: [], missing: [] },
  ...{ replaced: [], emptyFile: '/dev/null', temporary: '/private/tmp/hi-temporary' },
};

/**
 * The profile of `sandbox-exec` for this confinement. The last rule that matches decides, so what is hidden or kept
 * comes last.
 */
export function seatbeltProfile(confinement: Confinement): string {
  const { grant, work, readable, own, free, hidden, kept, missing, replaced, temporary } = confinement;
  const paths = (places: readonly { readonly path: string }[]): readonly string[] => places.map(({ path }) => path);
  const unseen = [...paths(hidden), ...paths(replaced)];
  const unchanged = [...kept, ...paths(missing), ...unseen, ...paths(own)];
  const writable = grant.isOpen ? ['/'] : grant.write ? work : [];
  const above = [...new Set(unchanged.flatMap((path) => writable.flatMap((top) => foldersBetween(top, path))))];
  const shown = [...paths(readable), ...work];
  return [
    '(version 1)',
    '(allow default)',
    ...(grant.isOpen ? [] : closing(shown)),
    ...(grant.isOpen
      ? []
      : [`(allow file-write* (literal "/dev/null") (literal "/dev/zero") ${subpaths([temporary])})`]),
    ...(grant.files.length > 0 ? [`(allow file-write* ${literals(grant.files)})`] : []),
    ...(grant.write && work.length > 0 ? [`(allow file-write* ${subpaths(work)})`] : []),
    ...(writable.length > 0 && unchanged.length > 0 ? [`(deny file-write* ${subpaths(unchanged)})`] : []),
    // Rules go by path: renaming a folder above a protected file would take the file out of these rules.
    ...(above.length > 0 ? [`(deny file-write-unlink ${literals(above)})`] : []),
    ...(own.length > 0 ? denied(paths(own)) : []),
    ...(free.length > 0 ? [`(allow file-read* ${subpaths(free)})`] : []),
    ...(unseen.length > 0 ? denied(unseen) : []),
    ...(grant.network
      ? ['(deny network* (remote unix-socket))', `(allow network-outbound (literal ${quoted(RESOLVER)}))`]
      : ['(deny network*)']),
    '(deny signal) (allow signal (target same-sandbox))',
    '(deny process-info* (target others)) (deny appleevent-send) (deny lsopen)',
    `(deny mach-lookup ${SERVICES.map((name) => `(global-name ${quoted(name)})`).join(' ')})`,
  ].join('\n');
}

/**
 * Nothing can be written, and of the folders of users only what is shown can be read; the folders above that can be
 * passed through.
 */
function closing(shown: readonly string[]): readonly string[] {
  const above = [...new Set(shown.flatMap((path) => foldersBetween('/', path)))];
  return [
    '(deny file-write*)',
    `(deny file-read* ${subpaths(CLOSED)})`,
    ...(shown.length > 0 ? [`(allow file-read* ${subpaths(shown)})`] : []),
    ...(above.length > 0 ? [`(allow file-read-metadata ${literals(above)})`] : []),
  ];
}

const denied = (paths: readonly string[]): readonly string[] => [
  `(deny file-read* ${subpaths(paths)})`,
  `(deny file-link ${subpaths(paths)})`,
];

/** The folders between `root` and a path in it. */
function foldersBetween(root: string, path: string): readonly string[] {
  const folder = dirname(path);
  return folder !== root && isInside(root, folder) ? [...foldersBetween(root, folder), folder] : [];
}
