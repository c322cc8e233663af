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

/** A profile with every kind of rule, to check that this system accepts them all. */
export const SEATBELT_PROBE: Confinement = {
  ...{
    root: '/private/tmp/hi-probe',
    folder: '/',
    grant: { write: true, network: true, files: ['/private/tmp/hi-file'] },
  },
  ...{ hidden: ['/private/tmp/hi-probe/a/hidden'], readable: ['/private/tmp/hi-readable'], runsLater: [], missing: [] },
  ...{ replaced: [], emptyFile: '/dev/null', temporary: '/private/tmp/hi-temporary' },
};

/** The profile of `sandbox-exec` for this confinement. The last rule that matches decides. */
export function seatbeltProfile(confinement: Confinement): string {
  const { root, grant, hidden, readable, runsLater, missing, replaced, temporary } = confinement;
  const unseen = [...hidden, ...replaced.map(({ path }) => path)];
  const kept = [...runsLater, ...missing, ...unseen];
  const above = [...new Set(kept.flatMap((path) => foldersBetween(root, path)))];
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* (literal "/dev/null") (literal "/dev/zero") ${subpaths([temporary])})`,
    ...(grant.files.length > 0 ? [`(allow file-write* ${literals(grant.files)})`] : []),
    ...(grant.write ? [`(allow file-write* ${subpaths([root])})`] : []),
    ...(grant.write && kept.length > 0 ? [`(deny file-write* ${subpaths(kept)})`] : []),
    // Rules go by path: renaming a folder above a protected file would take the file out of these rules.
    ...(grant.write && above.length > 0 ? [`(deny file-write-unlink ${literals(above)})`] : []),
    ...(unseen.length > 0 ? [`(deny file-read* ${subpaths(unseen)})`, `(deny file-link ${subpaths(unseen)})`] : []),
    ...(readable.length > 0 ? [`(allow file-read* ${subpaths(readable)})`] : []),
    ...(grant.network
      ? ['(deny network* (remote unix-socket))', `(allow network-outbound (literal ${quoted(RESOLVER)}))`]
      : ['(deny network*)']),
    '(deny signal) (allow signal (target same-sandbox))',
    '(deny process-info* (target others)) (deny appleevent-send) (deny lsopen)',
    `(deny mach-lookup ${SERVICES.map((name) => `(global-name ${quoted(name)})`).join(' ')})`,
  ].join('\n');
}

/** The folders between `root` and a path in it. */
function foldersBetween(root: string, path: string): readonly string[] {
  const folder = dirname(path);
  return folder !== root && isInside(root, folder) ? [...foldersBetween(root, folder), folder] : [];
}
