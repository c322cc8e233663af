import { existsSync } from 'node:fs';
import { type Confinement, type Mount, mountPlan, NotConfinable } from './confinement.js';

/** The descriptor that the filter of system calls is read from. */
export const FILTER_DESCRIPTOR = 4;

const NAMESPACES = ['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--cap-drop', 'ALL'];

/** What of root's power a command keeps that may do everything but reach what is hidden: it installs packages. */
const CAPABILITIES = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'SETGID', 'SETUID', 'NET_BIND_SERVICE'];

/** The minimum that a command needs to start. */
export const BARE_OPTIONS: readonly string[] = [
  ...['--die-with-parent', ...NAMESPACES],
  ...['--unshare-net', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
];

/** Settings of the kernel and its devices, which root can change even without capabilities. */
const KERNEL_SETTINGS = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs'];

/** bubblewrap accepts 9000 arguments, and the command comes after these. */
const MOST_OPTIONS = 8900;

/**
 * The arguments of `bwrap` for this confinement, without the command. Throws `NotConfinable` where there is too much to
 * hide.
 */
export function bubblewrapOptions(confinement: Confinement): readonly string[] {
  const { root, grant, folder, isLoose } = confinement;
  const options = [
    ...(isLoose ? [] : ['--die-with-parent']),
    ...NAMESPACES,
    ...(grant.isOpen && process.getuid?.() === 0 ? CAPABILITIES.flatMap((name) => ['--cap-add', `CAP_${name}`]) : []),
    ...(grant.network ? [] : ['--unshare-net']),
    ...(grant.isOpen ? ['--bind', '/', '/', '--ro-bind-try', '/sys', '/sys'] : []),
    ...(isLoose ? ['--dev-bind', '/dev', '/dev'] : ['--dev', '/dev']),
    ...['--proc', '/proc'],
    ...KERNEL_SETTINGS.filter((path) => existsSync(path)).flatMap((path) => ['--ro-bind', path, path]),
    ...mountPlan(confinement).flatMap(optionsOf),
    ...(grant.isOpen ? [] : ['--setenv', 'TMPDIR', '/tmp']),
    ...['--chdir', folder],
  ];
  if (options.length <= MOST_OPTIONS) return options;
  throw new NotConfinable(
    `'${root}' has more private files than the sandbox can hide one by one`,
    'Start hi in one of its folders',
  );
}

function optionsOf(mount: Mount): readonly string[] {
  const { kind, path } = mount;
  switch (kind) {
    case 'read':
      return ['--ro-bind', mount.from ?? path, path];
    case 'write':
      return ['--bind', mount.from ?? path, path];
    case 'link':
      return ['--symlink', mount.to, path];
    case 'scratch':
      return ['--tmpfs', path];
    case 'empty':
      return ['--tmpfs', path, '--remount-ro', path];
    case 'seal':
      return ['--remount-ro', path];
  }
}
