import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, it } from '@jest/globals';
import { judgeCommand } from '../../lib/permission/judge-command.js';
import { readRules } from '../../lib/permission/rules/rules.js';
import { Sandbox } from '../../lib/permission/sandbox/sandbox.js';
import { sandboxKind } from '../../lib/permission/sandbox/sandbox-kind.js';
import { systemCallFilter } from '../../lib/permission/sandbox/system-call-filter.js';
import { tools } from '../../lib/tools/index.js';
import { guardedHome, SECRET } from '../support/attack.js';
import { commandLines } from '../support/command-grammar.js';
import type { Home } from '../support/program.js';
import fc from '../support/properties.js';

/** `npm run test:attacks` judges this many. */
const LINES = Number(process.env.HI_GENERATED_LINES ?? 800);

/** That many allowed commands run in one sandbox, each in a shell of its own. */
const BATCH = 60;

/** Nothing but looking: neither write nor network. */
const ALLOWED =
  'cat head tail wc ls stat file du diff cmp sort uniq cut nl tac jq date ps printf echo test tr od strings realpath basename md5sum sed gsed awk mawk gawk git find grep egrep fgrep zgrep rg make npm env timeout nice nohup xargs bash sh eval command exec setsid time stdbuf cd source trap'
    .split(' ')
    .map((name) => `bash(${name}:*)`);

const EVIL = `#!/bin/sh\ntouch pwned; cat .env ../.ssh/id_rsa; echo x > ../pwned\n`;

function setUp(): Home {
  const home = guardedHome({ api_key: `sk-${SECRET}` });
  const files = {
    '../.ssh/id_rsa': SECRET,
    '.env': `API=${SECRET}`,
    'secrets.json': `{"k":"${SECRET}"}`,
    'notes.txt': 'one\ntwo\n',
    'src/a.ts': 'one\n',
    'evil.sh': EVIL,
    'evil.mk': 'test:\n\ttouch pwned; cat .env\n',
    Makefile: 'all test:\n\ttouch pwned; cat .env\n',
    'evil.awk': 'BEGIN { system("touch pwned; cat .env") }',
    'evil.sed': '1e touch pwned\nw pwned\nr .env\n',
    'evilpkg/package.json': '{"scripts":{"test":"touch ../pwned; cat ../.env","build":"touch ../pwned"}}',
    'package.json': '{"scripts":{"test":"touch pwned; cat .env","build":"touch pwned"}}',
    list: '.env\0',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home.work, path)), { recursive: true });
    writeFileSync(join(home.work, path), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  }
  symlinkSync('../.ssh', join(home.work, 'link'));
  spawnSync(
    'sh',
    [
      '-c',
      'git init -q .; git add notes.txt; git -c user.name=a -c user.email=b commit -qm one; git config core.fsmonitor "./evil.sh;false"',
    ],
    { cwd: home.work, env: { ...process.env, HOME: home.folder } },
  );
  return home;
}

const snapshot = (home: Home): string =>
  JSON.stringify([
    readdirSync(home.folder),
    readdirSync(home.work),
    readdirSync(join(home.work, 'src')),
    readFileSync(join(home.work, 'notes.txt'), 'utf8'),
    readdirSync(join(home.work, '.git')),
  ]);

it(
  `lets ${LINES} generated command lines read, write and send nothing`,
  async () => {
    const home = setUp();
    let connections = 0;
    const listener = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const address = listener.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const env = { ...home.env, PATH: process.env.PATH ?? '', SECRET_TOKEN: undefined };
    const rules = readRules({ allow: ALLOWED, ask: [], deny: [] }, tools, home.work);
    const around = {
      root: home.work,
      workingFolder: home.work,
      ownPlaces: [home.config, home.data, join(home.folder, '.ssh')],
      freeFolders: [],
      env,
    };
    const emptyFile = join(home.data, 'empty');
    mkdirSync(home.data, { recursive: true });
    writeFileSync(emptyFile, '');
    const sandbox = new Sandbox({ ...around, fileOf: () => emptyFile, rules: () => rules });
    const hasSandbox = (await sandboxKind()) !== null;
    const filterPath = join(home.folder, 'filter');
    writeFileSync(filterPath, systemCallFilter() ?? '');
    const untouched = snapshot(home);
    const counts = { judged: 0, confined: 0, alone: 0 };

    const run = async (commands: readonly string[], confined: boolean): Promise<string> => {
      const made = confined
        ? await sandbox.confine({ write: false, network: false, read: [], files: [] }, home.work)
        : null;
      const [program = 'bash', ...rest] = [...(made?.wrapper ?? []), 'bash'];
      const each = 'while IFS= read -r -d "" c; do timeout 5 bash --noprofile --norc -c "$c" < /dev/null; echo; done';
      const filter = openSync(filterPath, 'r');
      const script = `exec 3<&0; ${each} <&3`;
      const result = spawnSync(program, [...rest, '-c', script], {
        cwd: home.work,
        // The home may lie in a checkout of hi itself, and specs of hi have the word.
        env: { ...env, GIT_TERMINAL_PROMPT: '0', GIT_CEILING_DIRECTORIES: home.folder },
        input: commands.map((command) => `${command.replaceAll('\0', '')}\0`).join(''),
        stdio: ['pipe', 'pipe', 'pipe', 'ignore', filter],
        timeout: 300_000,
        maxBuffer: 200_000_000,
      });
      closeSync(filter);
      made?.finish();
      return `${result.stdout}${result.stderr}`;
    };
    const check = async (commands: readonly string[], confined: boolean): Promise<void> => {
      const output = await run(commands, confined);
      // A command that says the word of the file itself has not read it.
      const leaks = output.includes(SECRET);
      await new Promise((resolve) => setImmediate(resolve));
      if (!leaks && snapshot(home) === untouched && connections === 0) return;
      if (commands.length === 1)
        throw new Error(
          `${confined ? 'in the sandbox' : 'without it'}: ${JSON.stringify(commands[0])}: ${output.slice(0, 500)}`,
        );
      const half = Math.ceil(commands.length / 2);
      await check(commands.slice(0, half), confined);
      await check(commands.slice(half), confined);
      throw new Error(`Together, ${confined ? 'in the sandbox' : 'without it'}: ${JSON.stringify(commands)}`);
    };

    const open: { confined: string[]; alone: string[] } = { confined: [], alone: [] };
    let slow = 0;
    const lines = fc.sample(commandLines(port), LINES);
    for (const command of lines) {
      counts.judged += 1;
      if (counts.judged % 10_000 === 0) process.stderr.write(`${JSON.stringify(counts)}\n`);
      const alone = await judgeCommand(command, rules, { ...around, hasSandbox: false });
      if (alone.decision === 'allow') open.alone.push(command);
      // npm takes a second to start, so that only some of its lines are run.
      const isSlow = /\bnpm\b/.test(command);
      if (isSlow) slow += 1;
      if (
        hasSandbox &&
        (!isSlow || slow % 200 === 1) &&
        (await judgeCommand(command, rules, { ...around, hasSandbox: true })).decision === 'allow'
      )
        open.confined.push(command);
      for (const [kind, waiting] of Object.entries(open)) {
        if (waiting.length < BATCH) continue;
        counts[kind === 'confined' ? 'confined' : 'alone'] += waiting.length;
        await check(waiting.splice(0), kind === 'confined');
      }
    }
    counts.confined += open.confined.length;
    counts.alone += open.alone.length;
    await check(open.confined, true);
    await check(open.alone, false);
    listener.close();
    home.remove();
    if (LINES > 800) process.stderr.write(`all: ${JSON.stringify(counts)}\n`);
    expect(counts.judged).toBe(LINES);
    expect(counts.confined > LINES / 20 || !hasSandbox).toBe(true);
    expect(counts.alone).toBeGreaterThan(0);
  },
  4 * 3_600_000,
);
