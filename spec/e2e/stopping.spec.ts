import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME } from '../support/program.js';
import { type Reply, type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { control, openTerminal, type Terminal } from '../support/terminal.js';
import { vendorServer } from '../support/vendor-server.js';

let server: ScriptedServer;
let home: Home;
let terminal: Terminal;

async function chat(answer: (index: number) => Reply, permissions: object = {}, config: object = {}): Promise<void> {
  server = await startScriptedServer((_request, index) => answer(index));
  const tools = { permissions: { allow: [], ask: [], deny: [], ...permissions } };
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base, tools, ...config });
  terminal = openTerminal(RUNTIME, [PROGRAM, 'chat'], { env: home.env, cwd: home.work });
  await terminal.until(/^hi> *$/m, 20_000);
}

afterEach(async () => {
  await terminal?.close();
  await server?.close();
  home?.remove();
});

/** Waits for what no screen shows. */
async function waitFor(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(50);
}

const stored = () => JSON.parse(execFileSync('zstd', ['-dc', home.historyFile]).toString());

/** The command lines of all processes that contain this word. */
function processesWith(word: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => commandLine(pid))
    .filter((line) => line.includes(word) && !line.includes('jest'));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

describe('stopping', () => {
  it('ends a tool of ten minutes that ignores signals, with all its children, and keeps its output', async () => {
    const script = "trap '' INT TERM; (trap '' INT TERM; sleep 600.371) & echo under way; sleep 600.371; wait";
    await chat(
      (index) => (index === 0 ? { calls: [{ name: 'bash', args: { command: script } }] } : { text: 'on we go' }),
      { allow: ['bash'] },
    );
    terminal.type('work for ten minutes\r');
    await terminal.until(/^under way/m, 20_000);
    expect(processesWith('600.371')).not.toEqual([]);
    terminal.type(control('c'));
    await terminal.until(/\(interrupted\)\n+hi> *$/, 5_000);
    expect(processesWith('600.371')).toEqual([]);
    terminal.type('and now?\r');
    await terminal.until('on we go', 20_000);
    const [question, call, result] = stored();
    expect([question.role, call.role, result.role]).toEqual(['user', 'assistant', 'tool']);
    expect(result.content[0].error).toBe('interrupted\nOutput before that:\nunder way\n');
  });

  it('closes the turn when the terminal closes in the middle of an answer', async () => {
    await chat((index) => (index === 0 ? { pieces: ['half an ', 'answer'], hangAfter: 1 } : { text: 'whole' }));
    terminal.type('question\r');
    await terminal.until('half an', 20_000);
    terminal.hangUp();
    await terminal.exit();
    expect(readdirSync(home.data).sort()).toEqual(['history.json.zst', 'input-history.jsonl']);
    expect(stored()).toMatchObject([{ role: 'user' }, { role: 'assistant', stop_reason: 'interrupted' }]);
  });

  it('returns to the prompt while a list of models is loading', async () => {
    await using silent = await vendorServer({ silent: true });
    await chat(() => ({ text: 'never' }), {}, { api_base: silent.url });
    terminal.type('/model\r');
    await terminal.until('window 128000 tokens');
    terminal.type(control('c'));
    await terminal.until(/\(interrupted\)\n+hi>/);
  });

  it('returns to the prompt while a command for the key runs, and ends it', async () => {
    await chat(() => ({ text: 'never' }), {}, { api_key: '!exec sleep 600.417' });
    terminal.type('question\r');
    await waitFor(() => processesWith('sleep 600.417').length > 0);
    terminal.type(control('c'));
    await terminal.until(/\(interrupted\)\n+hi>/);
    await waitFor(() => processesWith('sleep 600.417').length === 0);
  });

  it.each([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('closes the turn, keeps what was not sent and gives the terminal back on %s', async (signal, status) => {
    await chat(() => ({ pieces: Array.from({ length: 300 }, (_, word) => `word${word} `), delay: 100 }));
    terminal.type('question\r');
    await terminal.until('word1 ');
    terminal.type('not sent yet');
    await terminal.until('word9 ');
    terminal.signal(signal);
    expect((await terminal.exit()).status).toBe(status);
    expect(stored()).toMatchObject([{ role: 'user' }, { role: 'assistant', stop_reason: 'interrupted' }]);
    expect(terminal.written().lastIndexOf('\x1b[?2004l')).toBeGreaterThan(
      terminal.written().lastIndexOf('\x1b[?2004h'),
    );
    expect(readFileSync(`${home.data}/input-history.jsonl`, 'utf8')).toContain('"not sent yet"');
  });
});
