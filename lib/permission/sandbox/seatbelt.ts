import type { Confinement } from './confinement.js';

const quoted = (path: string): string => `"${path.replace(/["\\]/g, '\\$&')}"`;
const subpaths = (paths: readonly string[]): string => paths.map((path) => `(subpath ${quoted(path)})`).join(' ');

const literals = (paths: readonly string[]): string => paths.map((path) => `(literal ${quoted(path)})`).join(' ');

/** Services of macOS that start other programs, outside of the sandbox. */
const LAUNCHERS = ['com.apple.coreservices.launchservicesd', 'com.apple.CoreServices.coreservicesd'];

/** The profile of `sandbox-exec` for this confinement. The last rule that matches decides. */
export function seatbeltProfile({ root, grant, hidden, readable, runsLater, missing, temporary }: Confinement): string {
  const closed = [...runsLater, ...missing];
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* (literal "/dev/null") (literal "/dev/zero") ${subpaths([temporary])})`,
    ...(grant.files.length > 0 ? [`(allow file-write* ${literals(grant.files)})`] : []),
    ...(grant.write ? [`(allow file-write* ${subpaths([root])})`] : []),
    ...(grant.write && closed.length > 0 ? [`(deny file-write* ${subpaths(closed)})`] : []),
    ...(hidden.length > 0 ? [`(deny file-read* ${subpaths(hidden)})`] : []),
    ...(readable.length > 0 ? [`(allow file-read* ${subpaths(readable)})`] : []),
    ...(grant.network ? ['(deny network* (remote unix-socket))'] : ['(deny network*)']),
    '(deny signal) (allow signal (target same-sandbox))',
    '(deny process-info* (target others)) (deny appleevent-send) (deny lsopen)',
    `(deny mach-lookup ${LAUNCHERS.map((name) => `(global-name ${quoted(name)})`).join(' ')})`,
  ].join('\n');
}
