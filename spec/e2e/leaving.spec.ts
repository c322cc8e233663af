import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNS_ON_NODE } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { control, KEY, openTerminal, type Terminal } from '../support/terminal.js';

let server: ScriptedServer;
let home: Home;
let terminal: Terminal;

afterEach(async () => {
  await terminal?.close();
  await server?.close();
  home?.remove();
});

/** What the program is made to load first: something that fails where nobody expects it. */
const CRASH = "process.on('SIGUSR2', () => { throw new Error('crashed on purpose'); });\n";

/**
 * A shell whose `hi` answers slowly and tells its status when it has left; resolves to how the terminal was set before.
 */
async function shell(): Promise<string> {
  server = await startScriptedServer(async ({ messages }) => {
    const asked = messages.at(-1)?.content;
    if (asked === 'ask me') return { calls: [{ name: 'bash', args: { command: 'touch asked' } }] };
    if (asked === 'think') await delay(3000);
    return { pieces: Array.from({ length: 300 }, (_, word) => `word${word} `), delay: 100 };
  });
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
  const crash = join(home.folder, 'crash.mjs');
  writeFileSync(crash, CRASH);
  const hi = RUNS_ON_NODE
    ? `${process.execPath} --import ${crash} ${PROGRAM}`
    : `env BUN_OPTIONS=--preload=${crash} ${PROGRAM}`;
  const env = { ...home.env, PS1: '$ ', HI: hi };
  terminal = openTerminal('bash', ['--norc', '--noprofile', '-i'], { env, cwd: home.work, columns: 200, rows: 40 });
  await terminal.until(/\$ ?$/);
  const before = await settings('before');
  terminal.type("clear; sh -c 'echo $$ > pid; exec $HI'; echo left with $?\r");
  await terminal.until(/^hi> *$/m);
  return before;
}

/** How the terminal is set, as the shell tells it. */
async function settings(name: string): Promise<string> {
  terminal.type(`clear; echo ${name}-$(stty -g)-${name}\r`);
  const told = new RegExp(`${name}-([0-9a-f:]+)-${name}`);
  await terminal.until(told);
  return told.exec(terminal.screen())?.[1] ?? '';
}

async function expectAsFound(before: string): Promise<void> {
  expect(await settings('after')).toBe(before);
  const written = terminal.written().slice(0, terminal.written().search(/left with \d/));
  expect(written.lastIndexOf('\x1b[?2004l')).toBeGreaterThan(written.lastIndexOf('hi>'));
  expect(written.lastIndexOf('\x1b[?25h')).toBeGreaterThanOrEqual(written.lastIndexOf('\x1b[?25l'));
}

const signal = (name: NodeJS.Signals): void => {
  process.kill(Number(readFileSync(join(home.work, 'pid'), 'utf8')), name);
};
const stored = () => JSON.parse(execFileSync('zstd', ['-dc', home.historyFile]).toString());

describe('hi chat leaves the terminal as it was found', () => {
  it.each([
    ['Ctrl-D', control('d'), 0],
    ['/quit', '/quit\r', 0],
    ['Ctrl-C twice', control('c') + control('c'), 130],
  ])('with %s', async (_way, keys, status) => {
    const before = await shell();
    terminal.type(keys);
    await terminal.until(`left with ${status}`);
    await expectAsFound(before);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGUSR2', 1],
  ] as const)('after %s in the middle of an answer, and keeps what was not sent', async (name, status) => {
    const before = await shell();
    terminal.type('question\r');
    await terminal.until('word1 ');
    terminal.type('entered\rtyped');
    await terminal.until('word9 ');
    signal(name);
    await terminal.until(`left with ${status}`);
    await expectAsFound(before);
    expect(stored()[0]).toMatchObject({ role: 'user', content: [{ text: 'question' }] });
    expect(readFileSync(join(home.data, 'input-history.jsonl'), 'utf8')).toBe('"question"\n"entered"\n"typed"\n');
  });

  it('after a crash at the prompt, with one line about it, and keeps unsent text', async () => {
    const before = await shell();
    terminal.type('half a line');
    await terminal.until('hi> half a line');
    signal('SIGUSR2');
    await terminal.until('left with 1');
    expect(terminal.screen()).toMatch(/^hi> half a line$[\s\S]*^[Ee]rror: crashed on purpose$/m);
    await expectAsFound(before);
    expect(readFileSync(join(home.data, 'input-history.jsonl'), 'utf8')).toBe('"half a line"\n');
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGUSR2', 1],
  ] as const)('after %s at a question', async (name, status) => {
    const before = await shell();
    terminal.type('ask me\r');
    await terminal.until(/Run this command\?[\s\S]*yes, once/);
    signal(name);
    await terminal.until(`left with ${status}`);
    await expectAsFound(before);
    if (name === 'SIGTERM') expect(stored().at(-1)).toMatchObject({ stop_reason: 'interrupted' });
  });

  it('while it is suspended with Ctrl-Z, and resumes', async () => {
    const before = await shell();
    terminal.type(`half a line${control('j')}second row${control('j')}third row${KEY.up}`);
    await terminal.until(/^third row$/m);
    terminal.type(control('z'));
    await terminal.until('Stopped');
    expect(terminal.screen()).not.toContain(' row');
    expect(await settings('between')).toBe(before);
    terminal.type('fg\r');
    await terminal.until(/\$ fg\n.*exec \$HI.*\nhi> half a line\nsecond row\nthird row$/);
    terminal.type(`${KEY.up}${control('a')}question \r`);
    await terminal.until('word1 ');
    terminal.type(control('z'));
    await terminal.until('Stopped');
    expect(await settings('again')).toBe(before);
    terminal.type('clear; fg; echo left with $?\r');
    await terminal.until(/word\d+ /);
    terminal.type(control('c'));
    await terminal.until(/\(interrupted\)\n+hi> *$/);
    terminal.type(control('d'));
    await terminal.until('left with 0');
    expect(stored()).toMatchObject([
      { content: [{ text: 'question half a line\nsecond row\nthird row' }] },
      { stop_reason: 'interrupted' },
    ]);
  });

  it('without a waiting line while it is suspended with Ctrl-Z, and waits on after it', async () => {
    await shell();
    terminal.type('think\r');
    await terminal.until(/scripted · \d/);
    terminal.type('next');
    await terminal.until('› next');
    terminal.type(control('z'));
    await terminal.until('Stopped');
    expect(terminal.screen()).not.toMatch(/scripted · \d|› next/);
    terminal.type('fg; echo left with $?\r');
    await terminal.until(/word0 [\s\S]*› next/);
    terminal.type(control('c'));
    await terminal.until(/\(interrupted\)\n+hi> next *$/);
  });
});
