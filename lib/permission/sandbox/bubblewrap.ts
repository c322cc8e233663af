import { existsSync } from 'node:fs';
import { type Confinement, type Mount, mountPlan, NotConfinable } from './confinement.js';

/** The descriptor that the filter of system calls is read from. */
export const FILTER_DESCRIPTOR = 4;

const NAMESPACES = ['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--cap-drop', 'ALL'];

/** The minimum that a command needs to start. */
export const BARE_OPTIONS: readonly string[] = [
  ...NAMESPACES,
  ...['--unshare-net', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
];

/** Settings of the kernel and its devices, which root can change even without capabilities. */
const KERNEL_SETTINGS = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs'];

/** bubblewrap accepts 9000 arguments, and the command comes after these. */
const MOST_OPTIONS = 8900;

/** The arguments of `bwrap` for this confinement, without the command. Throws `NotConfinable` where there is too much to hide. */
export function bubblewrapOptions(confinement: Confinement): readonly string[] {
  const { root, grant, folder } = confinement;
  const options = [
    ...NAMESPACES,
    ...(grant.network ? [] : ['--unshare-net']),
    ...(grant.isOpen ? ['--bind', '/', '/'] : []),
    ...['--dev', '/dev', '--proc', '/proc'],
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
