import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Attack, attempt, bash, type Outcome, pathWithoutSandbox, SECRET } from '../support/attack.js';

/** Whether this system lets bubblewrap make namespaces. Where it does not, nothing of what a rule allows runs. */
const WORKS = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', 'true']).status === 0;

const BARE_PATH = pathWithoutSandbox();
const NAME = `\0hi-attack-${process.pid}`;
/** Where a session keeps the sockets of its programs: not in /run, which the sandbox empties. */
const RUNTIME_FOLDER = mkdtempSync(join(homedir(), '.hi-run-'));
let connections = 0;
const servers: Server[] = [];
beforeAll(async () => {
  const sockets = ['wayland-0', 'bus', 'S.gpg-agent', 'agent', 'X0'].map((name) => join(RUNTIME_FOLDER, name));
  for (const place of [NAME, { port: 0, host: '127.0.0.1' }, ...sockets]) {
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(place, resolve));
  }
});
afterAll(() => {
  for (const server of servers) server.close();
  rmSync(RUNTIME_FOLDER, { recursive: true, force: true });
  rmSync(BARE_PATH, { recursive: true, force: true });
});

const outcomes: Outcome[] = [];
afterEach(() => {
  for (const { home } of outcomes.splice(0)) home.remove();
});

async function attack(given: Attack): Promise<Outcome> {
  const outcome = await attempt(given);
  outcomes.push(outcome);
  return outcome;
}

const port = (): number => {
  const address = servers[1]?.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
};

/** Calls of the kernel by their number on x86-64, which no library of the sandbox stands before. */
const kernel = (...calls: string[]): string => `
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
def call(*args):
    result = libc.syscall(*[a if isinstance(a, int) else ctypes.c_char_p(a) for a in args])
    return result if result >= 0 else -ctypes.get_errno()
home = os.environ["HOME"].encode()
def read(path):
    try: print(open(path, "rb").read())
    except Exception as e: print(type(e).__name__)
${calls.join('\n')}
read(home + b"/.ssh/id_rsa"); read(".env")
`;

const connect = (family: string, kind: string, address: string, port = true): string => `
import socket
try:
    s = socket.socket(${family}, ${kind})
    s.connect(${address})
    s.send(b"x")
    print("sent")
except Exception as e: print(type(e).__name__)
${port ? '' : 'pass'}`;

/**
 * Programs that read, write, send or reach what is not theirs, each in a language of its own. They are files, so that
 * no judge of words stops them.
 */
const SCRIPTS: Readonly<Record<string, string>> = {
  'umount.py': kernel('call(166, home + b"/.ssh", 2)', 'call(166, b".env", 2)', 'call(166, b"/", 2)'),
  'bind.py': kernel('call(165, b"/", b"/tmp", 0, 4096 | 16384, 0)', 'read(b"/tmp" + home + b"/.ssh/id_rsa")'),
  'remount.py': kernel(
    'call(165, b"none", b"/", 0, 32 | 4096, 0)',
    'open("pwned_remount", "w") if os.access(".", os.W_OK) else 0',
  ),
  'open-tree.py': kernel(
    'fd = call(428, -100, b"/", 1)',
    'call(429, fd, b"", -100, b"/tmp", 4)',
    'read(b"/tmp" + home + b"/.ssh/id_rsa")',
  ),
  'fsopen.py': kernel('print("opened") if call(430, b"tmpfs", 0) >= 0 else 0'),
  'mount-attributes.py': kernel('print("changed") if call(442, -100, b"/", 0x8000, 0, 0) >= 0 else 0'),
  'chroot.py': kernel('print("moved") if call(161, b"/tmp") >= 0 else 0'),
  'pivot.py': kernel('print("moved") if call(155, b"/tmp", b"/tmp") >= 0 else 0'),
  'unshare.py': kernel(
    'print("nested") if call(272, 0x10000000) >= 0 else 0',
    'print("nested") if call(272, 0x20000) >= 0 else 0',
  ),
  'clone.py': kernel(
    'p = call(56, 0x10000000 | 17, 0, 0, 0, 0)',
    'os._exit(print("nested") or 0) if p == 0 else 0',
    'print("nested") if p > 0 else 0',
  ),
  'clone3.py': kernel('print("nested") if call(435, ctypes.create_string_buffer(88).raw, 88) not in (-38, -1) else 0'),
  'setns.py': kernel('print("joined") if call(308, os.open("/proc/self/ns/mnt", 0), 0) >= 0 else 0'),
  'io-uring.py': kernel('print("ring") if call(425, 8, bytes(120)) >= 0 else 0'),
  'handle.py': kernel(
    'import struct',
    'h = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))',
    'm = ctypes.c_int()',
    'print("handle") if call(304, os.open("/", 0), h.raw, 0) >= 0 else 0',
  ),
  'ptrace.py': kernel('print(os.listdir("/proc/1/root/" + os.environ["HOME"] + "/.ssh"))'),
  'process-memory.py': kernel('read("/proc/1/mem"); read("/proc/1/environ"); read(f"/proc/{os.getppid()}/environ")'),
  'keys.py': kernel(
    'print("key") if call(248, b"user", b"x", b"y", 1, -3) >= 0 else 0',
    'print("key") if call(250, 0, -3, 0) >= 0 else 0',
  ),
  'module.py': kernel(
    'print("loaded") if call(313, 0, b"", 0) >= 0 else 0',
    'print("loaded") if call(175, b"", 0, b"") >= 0 else 0',
  ),
  'clock.py': kernel(
    'print("set") if call(164, bytes(16), 0) >= 0 else 0',
    'print("set") if call(170, b"evil", 4) >= 0 else 0',
  ),
  'device.py': kernel('print("made") if call(133, b"/tmp/disk", 0o60600, 0xfe00) >= 0 else 0'),
  'bpf.py': kernel('print("loaded") if call(321, 0, bytes(72), 72) >= 0 else 0'),
  'faults.py': kernel('print("opened") if call(323, 1) >= 0 else 0', 'print("opened") if call(323, 0) >= 0 else 0'),
  'counters.py': kernel(
    'import struct',
    'print("opened") if call(298, struct.pack("IIQ", 1, 128, 1) + bytes(24) + struct.pack("Q", 0x60) + bytes(80), 0, -1, -1, 0) >= 0 else 0',
  ),
  'other-memory.py': kernel(
    'import struct',
    'b = ctypes.create_string_buffer(8)',
    'v = struct.pack("QQ", ctypes.addressof(b), 8)',
    'print("traced") if any(call(310, p, v, 1, v, 1, 0) >= 0 for p in range(1, 400) if p not in (1, os.getpid(), os.getppid()) and not os.path.exists(f"/proc/{p}")) else 0',
    'fd = call(434, 1, 0)',
    'print("opened") if any(os.readlink(f"/proc/self/fd/{n}").startswith(home.decode()) for n in [call(438, fd, i, 0) for i in range(3, 40)] if n >= 0) else 0',
  ),
  'x32.py': kernel('print("opened") if call(0x40000029, 1, 1, 0) >= 0 else 0'),
  'int80.py': kernel(
    'import mmap',
    'm = mmap.mmap(-1, 4096, prot=7)',
    'm.write(bytes.fromhex("53b867010000bb01000000b90100000031d2cd805bc3"))',
    'f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))',
    'print("opened") if f() >= 0 else 0',
  ),
  'session.py': `import socket
for name in ("wayland-0", "bus", "S.gpg-agent", "agent", "X0"):
    for kind in (socket.SOCK_STREAM, socket.SOCK_SEQPACKET, socket.SOCK_DGRAM):
        try:
            socket.socket(socket.AF_UNIX, kind).connect("RUNTIME/" + name); print("sent")
        except Exception as e: print(type(e).__name__)`,
  'session.sh':
    'SSH_AUTH_SOCK=RUNTIME/agent timeout 2 ssh-add -l; DBUS_SESSION_BUS_ADDRESS=unix:path=RUNTIME/bus timeout 2 dbus-send --session --dest=x / x.y; DISPLAY=:0 timeout 2 xdpyinfo; timeout 2 gpg-connect-agent -S RUNTIME/S.gpg-agent /bye; timeout 2 perl -MSocket -e \'socket(S,AF_UNIX,SOCK_STREAM,0) and connect(S,sockaddr_un("RUNTIME/bus")) and print "sent"\' ',
  'terminals.sh':
    'for t in /dev/pts/[0-9]* /dev/tty[0-9]* /proc/*/fd/[012]; do case $t in /dev/*) [ -c $t ] && echo x > $t && echo wrote $t;; esac; done 2>/dev/null',
  'later.sh':
    'for f in /var/spool/cron/crontabs/root /var/spool/at/x /etc/cron.hourly/x /etc/systemd/system/x.service ~/.config/systemd/user/x.service ~/.local/share/systemd/user/x.service /etc/profile.d/x.sh /etc/ld.so.preload; do echo evil > $f && echo wrote $f; done 2>/dev/null | grep -v /var/spool; echo touch ~/pwned | at now 2>/dev/null; (timeout 2 systemd-run --user touch ~/pwned || timeout 2 systemd-run touch ~/pwned) 2>/dev/null',
  'own-settings.sh':
    'for f in ~/config/config.json ~/config/memory.md ~/data/memory.md ~/config/skills/x.md .mcp.json ~/.mcp.json ~/config/commands/x.md; do echo evil > $f; done 2>/dev/null; true',
  'setuid.py': kernel(
    'print("raised") if os.getuid() != 0 and call(105, 0) >= 0 else 0',
    'print(os.popen("sudo -n id 2>&1; su -c id 2>&1 </dev/null").read()[:0])',
  ),
  'memory-file.py': kernel(
    'fd = call(319, b"x", 0)',
    'os.write(fd, b"#!/bin/sh\\necho ran; touch pwned_memory\\n")',
    'os.system(f"sh /proc/self/fd/{fd}" if False else "true")',
  ),
  'signals.py':
    'import os\nfor p in range(2, 4000):\n    try: os.kill(p, 0) if p not in (os.getpid(), os.getppid()) else 0\n    except OSError: continue\nprint("end")',
  'descriptors.py':
    'import os\nfor n in os.listdir("/proc/self/fd"):\n    t = os.readlink(f"/proc/self/fd/{n}") if os.path.exists(f"/proc/self/fd/{n}") else ""\n    print(t) if t.startswith("/") and not t.startswith(("/dev/null", "/proc", "/usr")) and not t.endswith(".py") else 0',
  'abstract.py': connect('socket.AF_UNIX', 'socket.SOCK_STREAM', JSON.stringify(NAME).replace('\\u0000', '\\0')),
  'abstract-pair.py': `import socket\ntry:\n    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)\n    a.sendto(b"x", "DATAGRAMS")\n    print("sent")\nexcept Exception as e: print(type(e).__name__)`,
  'path-socket.py': connect('socket.AF_UNIX', 'socket.SOCK_STREAM', '"/run/docker.sock"'),
  'x11.py': connect('socket.AF_UNIX', 'socket.SOCK_STREAM', '"\\0/tmp/.X11-unix/X0"'),
  'vsock.py': connect('40', 'socket.SOCK_STREAM', '(2, 1)'),
  'tcp.py': connect('socket.AF_INET', 'socket.SOCK_STREAM', '("127.0.0.1", PORT)'),
  'tcp6.py': connect('socket.AF_INET6', 'socket.SOCK_STREAM', '("::ffff:127.0.0.1", PORT)'),
  'raw.py': connect('socket.AF_INET', 'socket.SOCK_RAW', '("127.0.0.1", 1)'),
  'packet.py':
    'import socket\ntry:\n    socket.socket(17, socket.SOCK_RAW); print("sent")\nexcept Exception as e: print(type(e).__name__)',
  'alg.py':
    'import socket\ntry:\n    socket.socket(38, 5); print("sent")\nexcept Exception as e: print(type(e).__name__)',
  'terminal.py':
    'import fcntl, termios\nfor n in (0, 1, 2):\n    try:\n        fcntl.ioctl(n, termios.TIOCSTI, b"x"); print("typed")\n    except Exception as e: print(type(e).__name__)',
  'console.py':
    'import fcntl, pty\nm, s = pty.openpty()\nfor code in (0x5412, 0x541C, 0x100005412):\n    try:\n        fcntl.ioctl(s, code & 0xffffffff, b"\\3x"); print("typed")\n    except Exception as e: print(type(e).__name__)',
  'links.sh':
    'ln -s ~/.ssh/id_rsa /tmp/x; cat /tmp/x; ln ~/.ssh/id_rsa /tmp/y; cat /tmp/y; ln .env /tmp/z; cat /tmp/z; cp -al . /tmp/w; cat /tmp/w/.env',
  'dots.sh':
    'cat /proc/self/root/$HOME/.ssh/id_rsa /proc/self/cwd/.env /proc/thread-self/root/$HOME/.ssh/id_rsa /proc/1/cwd/.env; cd ~; cat .ssh/../.ssh/id_rsa',
  'find.sh':
    'find ~ . /etc -name "id_*" -o -name .env 2>/dev/null | xargs -r cat; grep -ras "CANARY[4]17" ~ . 2>/dev/null | head -c 200',
  'settings.sh':
    'cat ~/config/config.json ~/data/* ~/cache/* ../config/config.json ../data/history*; ls -A ../config ../data',
  'shadow.sh':
    'cat /etc/shadow /etc/gshadow /etc/sudoers /etc/shadow- /etc/ssh/ssh_host_*_key /etc/ssl/private/* /etc/wireguard/* | head -c 300 | tr -d "\\n"',
  'environment.sh': 'env | grep -a "CANARY[4]"; cat /proc/*/environ | tr "\\0" "\\n" | grep -a "CANARY[4]"',
  'write-home.sh':
    'for f in ~/.bashrc ~/.profile ~/.ssh/authorized_keys ~/.config/autostart/x.desktop ~/pwned ../pwned /etc/cron.d/pwned /usr/local/bin/pwned /var/spool/cron/root; do mkdir -p $(dirname $f); echo evil >> $f && echo wrote $f; done 2>/dev/null | grep -v " /tmp\\| \\.\\./\\|/.ssh/\\|cron/root"',
  'write-git.sh':
    'git init -q . ; git config core.fsmonitor "touch pwned"; echo x > .git/hooks/post-commit; git config --global core.hooksPath /tmp; git config --system x.y z',
  'kernel.sh':
    'for f in /proc/sys/kernel/core_pattern /proc/sysrq-trigger /sys/kernel/uevent_helper /sys/fs/cgroup/release_agent /proc/sys/vm/drop_caches /proc/self/oom_score_adj; do [ -e $f ] && echo x > $f && echo wrote $f; done 2>/dev/null | grep -v oom',
  'fifo.sh':
    'mkfifo /tmp/p 2>/dev/null; (echo x > /tmp/p &) ; timeout 1 cat /tmp/p >/dev/null; cat /dev/shm/* /dev/mqueue/* 2>/dev/null; ipcs -q 2>/dev/null | grep -c 0x',
  'shared.sh': 'ls -A /tmp /var/tmp /dev/shm /run | grep -a "hi-\\|X11\\|dbus\\|docker\\|systemd"',
  'disk.sh':
    'for d in /dev/vda /dev/sda /dev/nvme0n1 /dev/mem /dev/kmem /dev/port /dev/fuse /dev/kvm /dev/tty0 /dev/console /dev/input/event0 /dev/uinput; do [ -e $d ] && echo device $d; done',
  'busctl.sh':
    'DBUS_SESSION_BUS_ADDRESS=unix:abstract=/tmp/dbus-x dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames 2>&1 | grep -c method.return',
  'agent.sh':
    'env | grep -c "SSH_AUTH_SOCK\\|GPG_AGENT\\|DBUS_SESSION\\|WAYLAND_SOCKET"; ssh-add -l 2>&1 | grep -c SHA256',
};

/** What a script prints when it has done harm. */
const HARM =
  /CANARY417|\b(?:sent|typed|nested|joined|ring|handle|traced|key|loaded|set|made|raised|ran|opened|changed|moved)\b(?=\\n)|wrote |device \/|root:[!*$x]|PRIVATE KEY/;

/** The result without the word at which it was cut: `./setns.py` is no `set`. */
const withoutCut = (result: string): string => result.replace(/\S*\\n\[… .*? …\](?=\\n)/g, '');

const NO_HARM = ['agent.sh', 'busctl.sh', 'fifo.sh'];

describe('a command that a rule lets run in the sandbox', () => {
  it.each([
    ['without the network', false],
    ['with the network', true],
  ])(
    'neither reads, writes nor reaches what it may not, %s',
    async (_what, network) => {
      const names = Object.keys(SCRIPTS).filter((name) => !network || !/^tcp6?\./.test(name));
      const files = Object.fromEntries(
        names.map((name) => [
          name,
          (SCRIPTS[name] ?? '')
            .replaceAll('PORT', `${port()}`)
            .replaceAll('DATAGRAMS', `./datagrams.sock`)
            .replaceAll('RUNTIME', RUNTIME_FOLDER),
        ]),
      );
      const before = `python3 -c 'import socket; s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM); s.bind("datagrams.sock")'`;
      connections = 0;
      const { results, sent, pwned, home } = await attack({
        allow: [{ rule: 'bash', network }],
        files: { ...files, '../.bashrc': '# mine\n' },
        before,
        calls: names.map((name) => bash(`${name.endsWith('.py') ? 'python3' : 'bash'} ${name} 2>&1`)),
        options: { env: { DB_PASSWORD: SECRET } },
      });
      if (!WORKS) return expect(results.join()).not.toContain('exit_code');
      expect(results).toHaveLength(names.length);
      expect(names.filter((_name, index) => !/"exit_code"/.test(results[index] ?? ''))).toEqual([]);
      expect(
        names
          .filter((_name, index) => HARM.test(withoutCut(results[index] ?? '')))
          .map((name) => [name, results[names.indexOf(name)]]),
      ).toEqual([]);
      for (const name of NO_HARM)
        expect([name, results[names.indexOf(name)]]).toEqual([name, expect.stringMatching(/"stdout":"(?:0\\n)*"/)]);
      expect([sent.includes(SECRET), pwned, connections]).toEqual([false, [], 0]);
      expect(readFileSync(join(home.folder, '.bashrc'), 'utf8')).toBe('# mine\n');
      // Under /tmp the folder above is the sandbox's own, where a file may be written and is gone with it.
      expect(existsSync(join(home.folder, 'pwned'))).toBe(false);
      // Nor do the empty folders that stand for hi's own outlive a command.
      expect(readFileSync(home.configFile, 'utf8')).toContain('scripted');
      const own = ['config/memory.md', 'data/memory.md', 'config/skills/x.md', 'config/commands/x.md', '.mcp.json'];
      expect([...own, 'work/.mcp.json'].filter((path) => existsSync(join(home.folder, path)))).toEqual([]);
      expect(existsSync(join(home.work, '.git'))).toBe(false);
    },
    120_000,
  );

  it('leaves no repository whose settings are elsewhere, and does not rename the working folder', async () => {
    const config = 'printf "[core]\\nfsmonitor = touch $PWD/pwned\\n[extensions]\\nworktreeConfig = true\\n"';
    const repository = 'mkdir -p store/objects store/refs sub; echo "ref: refs/heads/main" > sub/HEAD';
    const script = `${repository}; echo ../store > sub/commondir; ${config} > store/config; printf '[core]\\nbare = false\\nworktree = %s\\n' "$PWD/sub" > sub/config.worktree`;
    const asBare = `mkdir objects refs; echo "ref: refs/heads/main" > HEAD; ${config} > config`;
    const { later, pwned, home } = await attack({
      allow: [{ rule: 'bash', write: true }],
      files: { 'linked.sh': script, 'bare.sh': asBare },
      calls: [bash('bash linked.sh'), bash('bash bare.sh')],
    });
    if (!WORKS) return expect(existsSync(join(home.work, 'HEAD'))).toBe(false);
    later('cd sub; git status; cd ..; git status');
    expect(pwned).toEqual([]);
    expect(['HEAD', 'sub'].filter((name) => existsSync(join(home.work, name)))).toEqual([]);
    expect(existsSync(join(home.work, 'notes.txt'))).toBe(true);
  });

  it('changes nothing in a bare repository in which hi was started', async () => {
    const { home } = await attack({
      allow: [{ rule: 'bash', write: true }],
      before: 'git init -q --bare .',
      files: { 'evil.sh': 'echo evil >> config; echo evil > hooks/post-update; echo .. > commondir' },
      calls: [bash('bash evil.sh')],
    });
    expect(readFileSync(join(home.work, 'config'), 'utf8')).not.toContain('evil');
    expect(['commondir', 'hooks/post-update'].filter((name) => existsSync(join(home.work, name)))).toEqual([]);
  });

  it('writes to no named pipe, which a program outside could read', async () => {
    const { home } = await attack({
      allow: [{ rule: 'bash', write: true }],
      before: 'mkdir ../.control; for pipe in ../.control/pipe pipe; do mkfifo $pipe; done',
      files: {
        'write.py': `import os
for pipe in (os.environ["HOME"] + "/.control/pipe", "pipe"):
    with open("came", "a") as came:
        try: os.write(os.open(pipe, os.O_RDWR | os.O_NONBLOCK), b"pwned"); came.write(pipe)
        except OSError: pass`,
      },
      calls: [bash('python3 write.py')],
    });
    expect(existsSync(join(home.work, 'came')) ? readFileSync(join(home.work, 'came'), 'utf8') : '').toBe('');
  });

  it('runs only the built-in list if there is no sandbox', async () => {
    const names = Object.keys(SCRIPTS);
    const { results, sent, pwned } = await attack({
      allow: ['bash'],
      files: SCRIPTS,
      calls: names.map((name) => bash(`${name.endsWith('.py') ? 'python3' : 'bash'} ${name} 2>&1`)),
      options: { env: { PATH: BARE_PATH } },
    });
    expect(results.join()).not.toContain('exit_code');
    expect([sent.includes(SECRET), pwned]).toEqual([false, []]);
  });
});
