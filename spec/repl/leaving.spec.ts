import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { bundle } from '../support/bundle.js';
import { control, openTerminal, type Terminal } from '../support/terminal.js';

let program = '';
beforeAll(async () => {
  program = await bundle('spec/support/repl-driver.ts');
});

const open: Terminal[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((terminal) => terminal.close()));
});

/** A shell in whose terminal `hi` starts the driver and `settings` prints how the terminal is set. */
async function shell() {
  const folder = mkdtempSync(join(tmpdir(), 'hi-leaving-'));
  const env = {
    ...process.env,
    PS1: '$ ',
    DRIVER_HISTORY: join(folder, 'inputs'),
    HI: `${process.execPath} ${program}`,
    BASH_SILENCE_DEPRECATION_WARNING: '1',
  };
  const terminal = openTerminal('bash', ['--norc', '--noprofile', '-i'], { env, cwd: folder, columns: 200 });
  open.push(terminal);
  await terminal.until(/\$ ?$/);
  const settings = async (name: string): Promise<string> => {
    terminal.type(`clear; echo ${name}-$(stty -g)-${name}\r`);
    await terminal.until(new RegExp(`${name}-[0-9a-f:]+-${name}`));
    return new RegExp(`${name}-([0-9a-f:]+)-`).exec(terminal.screen().replaceAll('\n', ''))?.[1] ?? '';
  };
  return { terminal, settings };
}

describe('leaving', () => {
  it.each([
    ['Ctrl-D', control('d'), 0],
    ['Ctrl-C twice', control('c') + control('c'), 130],
    ['a crash', 'crash\r', 1],
    ['SIGTERM in the middle of an answer', 'slow\r', 143],
  ])('leaves the terminal as it was found: %s', async (way, keys, status) => {
    const { terminal, settings } = await shell();
    const before = await settings('before');
    const killed = `sh -c '(sleep 0.7; kill -TERM $$) & exec $HI'`;
    terminal.type(`clear; ${way.startsWith('SIGTERM') ? killed : '$HI'}; echo left with $?\r`);
    await terminal.until(/^hi>/);
    terminal.type(keys);
    await terminal.until(`left with ${status}`);
    expect(await settings('after')).toBe(before);
    expect(terminal.written().lastIndexOf('\x1b[?2004l')).toBeGreaterThan(terminal.written().lastIndexOf('hi>'));
  });

  it('suspends on Ctrl-Z and resumes', async () => {
    const { terminal, settings } = await shell();
    const before = await settings('before');
    terminal.type('clear; $HI\r');
    await terminal.until('hi>');
    terminal.type(`half a line${control('z')}`);
    await terminal.until('Stopped');
    expect(await settings('between')).toBe(before);
    terminal.type('clear; fg\r');
    await terminal.until('hi> half a line');
    terminal.type(`${control('a')}say \r`);
    await terminal.until(/\nhalf a line\n/);
  });

  it('hides late answers of the terminal from the shell', async () => {
    const { terminal } = await shell();
    terminal.type('clear; DRIVER_BACKGROUND=1 $HI; echo left with $?\r');
    await terminal.until(/^hi>/);
    terminal.type(control('d'));
    await delay(30);
    terminal.type('\x1b]11;rgb:ffff/');
    terminal.type('ffff/dddd\x1b\\');
    await terminal.until(/left with 0\n+\$ ?$/);
    terminal.type('echo on\r');
    await terminal.until(/\non\n+\$ ?$/);
    expect(terminal.screen()).not.toContain('rgb');
  });

  it('keeps an unsent line for the next time', async () => {
    const { terminal } = await shell();
    terminal.type('clear; $HI\r');
    await terminal.until('hi>');
    terminal.type('an unsent thought');
    await terminal.until('an unsent thought');
    terminal.type(control('z'));
    await terminal.until('Stopped');
    terminal.type('kill -HUP %1; fg; clear; $HI\r');
    await terminal.until((screen) => /^hi>/.test(screen) || /\nhi>$/.test(screen));
    terminal.type('\x1b[A');
    await terminal.until('hi> an unsent thought');
  });

  it('does not wait for an endless answer', async () => {
    const { terminal } = await shell();
    terminal.type('clear; $HI; echo left with $?\r');
    await terminal.until('hi>');
    terminal.type('stubborn 100000\r');
    await terminal.until('stubborn');
    terminal.type(control('c') + control('c') + control('c'));
    await terminal.until('left with 130');
  });
});
