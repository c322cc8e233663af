import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME } from '../support/program.js';
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

/**
 * A shell in which `hi` is started with these arguments, where the model wants to run a command and then says what came
 * of it; `ahead` is typed at once.
 */
async function hi(args: string, ahead = '', command = 'touch proof', columns = 100): Promise<void> {
  server = await startScriptedServer(({ messages }) => {
    const last = messages.at(-1);
    return last?.role === 'tool'
      ? { text: `The tool: ${last.content}` }
      : { text: 'Let me.', calls: [{ name: 'bash', args: { command } }] };
  });
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
  const env = { ...home.env, PS1: '$ ', HI: `${RUNTIME} ${PROGRAM}` };
  terminal = openTerminal('bash', ['--norc', '--noprofile', '-i'], { env, cwd: home.work, columns, rows: 40 });
  await terminal.until(/\$ ?$/);
  terminal.type(`clear; $HI ${args}; echo left with $?\r${ahead}`);
}

/** Waits for the question in the job that was brought back. */
const askedAnew = (question: RegExp) =>
  terminal.until((screen) => !screen.includes('Stopped') && question.test(screen));

const MENU = /Run this command\?[\s\S]*❯ yes, once[\s\S]*select/;
const stored = () => JSON.parse(execFileSync('zstd', ['-dc', home.historyFile]).toString());
const isRun = (): boolean => existsSync(join(home.work, 'proof'));

describe('a question of hi ask', () => {
  it.each([
    ['Ctrl-C', control('c')],
    ['Ctrl-D', control('d')],
  ])('that is cancelled with %s stops the turn, which is stored as interrupted: 130', async (_name, key) => {
    await hi('ask go');
    await terminal.until(MENU);
    terminal.type(key);
    await terminal.until(/\(interrupted\)\nleft with 130/);
    expect(server.requests).toHaveLength(1);
    expect(isRun()).toBe(false);
    expect(stored().at(-1)).toMatchObject({ role: 'assistant', stop_reason: 'interrupted' });
  });

  it('is not answered by what was typed for the shell before', async () => {
    await hi('ask go', 'ls\r');
    await terminal.until(MENU);
    expect(terminal.screen()).toContain('Ignored what was typed before the question.');
    terminal.type(KEY.up + KEY.up);
    await terminal.until('❯ no\n');
    terminal.type(KEY.enter);
    await terminal.until('left with 0');
    expect(isRun()).toBe(false);
  });

  it('is asked on the terminal where the question was piped in', async () => {
    await hi('ask fix it < <(echo a diff)');
    await terminal.until(MENU);
    terminal.type(KEY.enter);
    await terminal.until(/The tool: .*exit_code[\s\S]*left with 0/);
    expect(isRun()).toBe(true);
    expect(JSON.stringify(server.requests[0]?.messages.at(-1))).toContain('a diff');
  });

  it('wraps its answers at words where the terminal is narrow', async () => {
    const command = 'touch proof of a long command with several words';
    await hi('ask go', '', command, 38);
    await terminal.until('s • ↑↓ ⏎ select');
    expect(terminal.screen()).toContain(`❯ yes, once
  yes, always: bash(touch proof of a
  long command with several words)
  no
  no, and say why`);
    terminal.type('s');
    await terminal.until(/no, and say\n {2}why/);
  });

  it('is shown without a waiting line', async () => {
    await hi('ask go');
    await terminal.until(MENU);
    const asked = terminal.written().length;
    terminal.type(KEY.down + KEY.down);
    await terminal.until('❯ no');
    terminal.type(KEY.enter);
    await terminal.until('left with 0');
    expect(terminal.screen()).toMatch(
      /Let me\.\n│ touch proof\n✔ Run this command\? \(bash: no rule covers this command\) no\n/,
    );
    expect(terminal.written().slice(0, asked).split('Run this command').at(-1)).not.toContain('bash ·');
  });

  it('is shown again after Ctrl-Z and fg', async () => {
    await hi('ask go');
    await terminal.until(MENU);
    terminal.type(control('z'));
    await terminal.until('Stopped');
    terminal.type('clear; fg\r');
    await askedAnew(MENU);
    terminal.type(KEY.enter);
    await terminal.until(/The tool: .*exit_code/);
    expect(isRun()).toBe(true);
  });
});

describe('a question of hi chat', () => {
  it('that is cancelled with Ctrl-D stops the turn and returns to the prompt', async () => {
    await hi('chat');
    await terminal.until(/^hi> *$/m);
    terminal.type('go\r');
    await terminal.until(MENU);
    terminal.type(control('d'));
    await terminal.until(/\(interrupted\)\n+hi> *$/);
    expect(terminal.screen()).not.toContain('yes, once');
    expect(isRun()).toBe(false);
    terminal.type('/reset\r');
    await terminal.until('Clear the conversation');
    terminal.type(control('d'));
    await terminal.until(/Nothing was cleared\.\n+hi> *$/);
    terminal.type(control('d'));
    await terminal.until('left with 0');
    expect(stored()).toHaveLength(4);
  });

  it('is not answered by a paste, which contains text and not keys', async () => {
    await hi('chat');
    await terminal.until(/^hi> *$/m);
    terminal.type('go\r');
    await terminal.until(MENU);
    terminal.paste('a line\n\x1b[B\x03\n');
    terminal.type(KEY.up);
    await terminal.until('❯ no, and say why');
    terminal.type(KEY.enter);
    await terminal.until('Tell the model:');
    terminal.paste('because\nI say so\n');
    await terminal.until('because I say so');
    terminal.type(KEY.enter);
    await terminal.until(/The tool: .*because I say so/);
    expect(isRun()).toBe(false);
  });

  it('is shown again after Ctrl-Z and fg', async () => {
    await hi('chat');
    await terminal.until(/^hi> *$/m);
    terminal.type('go\r');
    await terminal.until(MENU);
    terminal.type(control('z'));
    await terminal.until('Stopped');
    terminal.type('clear; echo $(stty -a | grep -o .icanon)\r');
    await terminal.until(/^ ?icanon/m);
    terminal.type('clear; fg\r');
    await askedAnew(MENU);
    terminal.type(KEY.enter);
    await terminal.until(/The tool: .*exit_code/);
    expect(isRun()).toBe(true);
  });
});

describe('a question of hi reset', () => {
  it('is shown again after Ctrl-Z and fg', async () => {
    await hi('ask -y go >/dev/null; $HI reset');
    await terminal.until('Clear the conversation?');
    terminal.type(control('z'));
    await terminal.until('Stopped');
    terminal.type('clear; fg\r');
    await askedAnew(/Clear the conversation\?/);
    terminal.type('y\r');
    await terminal.until(/Cleared \d+ messages/);
  });
});
