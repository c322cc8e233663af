import { arch } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { systemCallFilter } from '../../../lib/permission/sandbox/system-call-filter.js';

const ALLOWED = 0x7fff0000;
const [EPERM, ENOSYS] = [0x00050001, 0x00050026];
const MACHINE = { x64: 0xc000003e, arm64: 0xc00000b7 }[arch()] ?? 0;

/**
 * What the kernel does with a call: the classic packet filter over `struct seccomp_data`, of which only the low halves
 * of arguments are read.
 */
function verdict(call: number, args: readonly number[] = [], machine = MACHINE): number {
  const filter = Buffer.from(systemCallFilter() ?? []);
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call, 0);
  data.writeUInt32LE(machine, 4);
  for (const [index, value] of args.entries()) data.writeUInt32LE(value, 16 + 8 * index);
  let loaded = 0;
  for (let at = 0; at < filter.length / 8; at += 1) {
    const [code, yes, no, value] = [
      filter.readUInt16LE(8 * at),
      filter.readUInt8(8 * at + 2),
      filter.readUInt8(8 * at + 3),
      filter.readUInt32LE(8 * at + 4),
    ];
    if (code === 0x20) loaded = data.readUInt32LE(value);
    else if (code === 0x54) loaded &= value;
    else if (code === 0x15) at += loaded === value ? yes : no;
    else if (code === 0x35) at += loaded >= value ? yes : no;
    else if (code === 0x45) at += (loaded & value) !== 0 ? yes : no;
    else if (code === 0x06) return value;
    else throw new Error(`Unknown instruction ${code}.`);
  }
  throw new Error('The filter does not end.');
}

/** The numbers in <asm/unistd_64.h> of x86-64, and in <asm-generic/unistd.h> where AArch64 has others. */
const X64 = {
  ...{ read: 0, write: 1, ioctl: 16, socket: 41, connect: 42, socketpair: 53, clone: 56, execve: 59, exit: 60 },
  ...{ pivot_root: 155, mount: 165, umount2: 166, add_key: 248, request_key: 249, keyctl: 250, unshare: 272 },
  ...{ perf_event_open: 298, setns: 308, bpf: 321, userfaultfd: 323, io_uring_setup: 425, open_tree: 428 },
  ...{ move_mount: 429, fsopen: 430, clone3: 435, mount_setattr: 442 },
} as const;
const ARM64 = {
  ...{ read: 63, write: 64, ioctl: 29, socket: 198, connect: 203, socketpair: 199, clone: 220, execve: 221, exit: 93 },
  ...{ pivot_root: 41, mount: 40, umount2: 39, add_key: 217, request_key: 218, keyctl: 219, unshare: 97 },
  ...{ perf_event_open: 241, setns: 268, bpf: 280, userfaultfd: 282 },
};
const CALLS: Readonly<Record<keyof typeof X64, number>> = arch() === 'arm64' ? { ...X64, ...ARM64 } : X64;

describe('the system call filter', () => {
  it.each(['read', 'write', 'connect', 'execve', 'exit'] as const)('allows %s', (name) => {
    expect(verdict(CALLS[name])).toBe(ALLOWED);
  });

  it.each([
    ...(['pivot_root', 'mount', 'umount2', 'add_key', 'request_key', 'keyctl', 'unshare', 'perf_event_open'] as const),
    ...(['setns', 'bpf', 'userfaultfd', 'open_tree', 'move_mount', 'fsopen', 'mount_setattr'] as const),
  ])('forbids %s', (name) => {
    expect(verdict(CALLS[name])).toBe(EPERM);
  });

  it('excludes io_uring, clone3, and calls of another architecture', () => {
    expect([verdict(CALLS.io_uring_setup), verdict(CALLS.clone3)]).toEqual([ENOSYS, ENOSYS]);
    expect([verdict(CALLS.read, [], 0x40000003), verdict(0x40000000 + CALLS.read)]).toEqual([EPERM, EPERM]);
  });

  it('allows sockets that a network namespace confines, and socket pairs without datagrams', () => {
    const families = [0, 1, 2, 10, 16, 17, 40].filter((family) => verdict(CALLS.socket, [family, 1]) === ALLOWED);
    expect(families).toEqual([2, 10, 16]);
    const [STREAM, DATAGRAMS, CLOSE_ON_EXEC] = [1, 2, 0x80000];
    expect([STREAM, STREAM | CLOSE_ON_EXEC].map((type) => verdict(CALLS.socketpair, [1, type]))).toEqual([
      ALLOWED,
      ALLOWED,
    ]);
    expect([DATAGRAMS, DATAGRAMS | CLOSE_ON_EXEC].map((type) => verdict(CALLS.socketpair, [1, type]))).toEqual([
      EPERM,
      EPERM,
    ]);
  });

  it('forbids typing into a terminal and creating a user namespace', () => {
    const [TIOCSTI, TIOCLINUX, TCGETS] = [0x5412, 0x541c, 0x5401];
    expect([TIOCSTI, TIOCLINUX, TCGETS].map((code) => verdict(CALLS.ioctl, [0, code]))).toEqual([
      EPERM,
      EPERM,
      ALLOWED,
    ]);
    expect([0x10000000, 0x10000011, 0x11].map((flags) => verdict(CALLS.clone, [flags]))).toEqual([
      EPERM,
      EPERM,
      ALLOWED,
    ]);
  });
});
