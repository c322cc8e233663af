import { arch, endianness } from 'node:os';

/** The numbers of a system call on x86-64 and on AArch64, from the kernel's tables. */
type Numbers = readonly [x64: number, arm64: number];

const SOCKET: Numbers = [41, 198];
const SOCKETPAIR: Numbers = [53, 199];
const IOCTL: Numbers = [16, 29];
const CLONE: Numbers = [56, 220];
const PTRACE: Numbers = [101, 117];
/**
 * io_uring opens sockets too, and a filter cannot read the arguments of clone3: both fail with "no such system call".
 */
const MISSING: readonly Numbers[] = [
  [425, 425],
  [435, 435],
];
/**
 * Namespaces and mounts, the session's keys (add_key, request_key, keyctl), and calls that no command needs and many
 * exploits of the kernel used: bpf, userfaultfd, perf_event_open.
 */
const FORBIDDEN: readonly Numbers[] = [
  [272, 97],
  [308, 268],
  [165, 40],
  [166, 39],
  [155, 41],
  [428, 428],
  [429, 429],
  [430, 430],
  [442, 442],
  [248, 217],
  [249, 218],
  [250, 219],
  [321, 280],
  [323, 282],
  [298, 241],
];

/** The families that a network namespace confines: IPv4, IPv6, and the kernel's own messages about them. */
const CONFINED_FAMILIES = [2, 10, 16];
const SOCK_DGRAM = 2;
const CLONE_NEWUSER = 0x10000000;
const FIRST_PROCESS = 1;
/** The requests of ioctl that type into a terminal (TIOCSTI) and paste into a console (TIOCLINUX). */
const TERMINAL_INPUT = [0x5412, 0x541c];

const [EPERM, ENOSYS] = [1, 38];
const ALLOW = 0x7fff0000;
const fail = (code: number): number => 0x00050000 | code;

/** One instruction of the kernel's classic packet filter: code, jump if true, jump if false, constant. */
type Instruction = readonly [code: number, yes: number, no: number, value: number];

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const give = (value: number): Instruction => [0x06, 0, 0, value];
/** Keeps these bits of the loaded value. */
const only = (bits: number): Instruction => [0x54, 0, 0, bits];
/** Returns `result` if the loaded value is `value`. */
const when = (value: number, result: number): readonly Instruction[] => [[0x15, 0, 1, value], give(result)];

// struct seccomp_data: the number of the call, the architecture, the instruction pointer, six arguments of 64 bits.
const [NUMBER, ARCHITECTURE, FIRST, SECOND] = [0, 4, 16, 24];

/**
 * A filter of system calls for the sandbox, in the format of `bwrap --seccomp`; null on other architectures, where only
 * mounts and namespaces protect. It closes what they leave open: sockets of other programs, whose names no mount hides,
 * the keys of the session, terminals, and new namespaces of the command.
 */
export function systemCallFilter(): Uint8Array | null {
  const index = { x64: 0, arm64: 1 }[arch()];
  if (index === undefined || endianness() !== 'LE') return null;
  const of = (numbers: Numbers): number => numbers[index] ?? -1;
  return encoded([
    load(ARCHITECTURE),
    // System calls of another architecture (32 bits) have other numbers.
    [0x15, 1, 0, [0xc000003e, 0xc00000b7][index] ?? 0],
    give(fail(EPERM)),
    load(NUMBER),
    // So do those of x32.
    [0x35, 0, 1, 0x40000000],
    give(fail(EPERM)),
    ...MISSING.flatMap((numbers) => when(of(numbers), fail(ENOSYS))),
    ...FORBIDDEN.flatMap((numbers) => when(of(numbers), fail(EPERM))),
    // Addresses of other families, such as sockets in files and those of virtual machines, reach outside of the
    // sandbox.
    ...argumentCheck(of(SOCKET), FIRST, [
      ...CONFINED_FAMILIES.flatMap((family) => when(family, ALLOW)),
      give(fail(EPERM)),
    ]),
    // A datagram socket of a pair may send to any address.
    ...argumentCheck(of(SOCKETPAIR), SECOND, [only(0xf), ...when(SOCK_DGRAM, fail(EPERM))]),
    ...argumentCheck(
      of(IOCTL),
      SECOND,
      TERMINAL_INPUT.flatMap((code) => when(code, fail(EPERM))),
    ),
    // The first process ends the sandbox with the command. Stopped by a debugger, it would not.
    ...argumentCheck(of(PTRACE), SECOND, when(FIRST_PROCESS, fail(EPERM))),
    ...argumentCheck(of(CLONE), FIRST, [[0x45, 0, 1, CLONE_NEWUSER], give(fail(EPERM))]),
    give(ALLOW),
  ]);
}

/** Checks the low half of an argument, which is all that the kernel uses of these, and then allows the call. */
function argumentCheck(number: number, offset: number, checks: readonly Instruction[]): readonly Instruction[] {
  const body = [load(offset), ...checks, give(ALLOW)];
  return [[0x15, 0, body.length, number], ...body];
}

function encoded(program: readonly Instruction[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  for (const [index, [code, yes, no, value]] of program.entries()) {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, yes);
    bytes.setUint8(index * 8 + 3, no);
    bytes.setUint32(index * 8 + 4, value, true);
  }
  return new Uint8Array(bytes.buffer);
}
