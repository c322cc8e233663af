import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { openTerminal, type Terminal } from '../support/terminal.js';

/** A link, the clipboard, a cleared screen, in C0 and in C1, DEL, a turned direction, a flood of marks. */
const HOSTILE = `\x1b]52;c;cHduZWQ=\x07 \x1b]8;;http://evil\x07x \x1b[2J \u009b2J \u009d52;c;eA== \x7f \u202egnp.exe a${'\u0301'.repeat(3000)}`;

let server: ScriptedServer;
let home: Home;
const terminals: Terminal[] = [];

afterEach(async () => {
  for (const terminal of terminals.splice(0)) await terminal.close();
  await server?.close();
  home?.remove();
});

/** What the program writes to a terminal, with its arguments. */
async function onTerminal(...args: readonly string[]): Promise<string> {
  const env = { ...home.env, PAGER: 'cat', NO_COLOR: '1' };
  const terminal = openTerminal(RUNTIME, [PROGRAM, ...args], { env, cwd: home.work });
  terminals.push(terminal);
  await terminal.exit();
  return terminal.written();
}

describe('what the model says', () => {
  it('is neutral on a terminal in every form of output, and as it is in a pipe', async () => {
    server = await startScriptedServer(() => ({ text: HOSTILE }));
    home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
    const piped = await runProgram(home, ['ask', 'go']);
    expect(piped.stdout).toBe(HOSTILE);
    for (const args of [
      ['history'],
      ['history', '--md'],
      ['history', '--json'],
      ['history', '--find', 'exe'],
      ['ask', 'go'],
      ['ask', '--json', 'go'],
      ['ask', '-o', 'stream-json', 'go'],
    ]) {
      // What hi itself writes: the waiting line, and the end of a row.
      const written = (await onTerminal(...args)).replace(/\x1b\[(?:0?K|0?m|\?25[hl]|\d*[GJ])/g, '');
      expect([args, written.match(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]/g)]).toEqual([args, null]);
      expect(written).toContain('gnp.exe');
    }
    expect((await runProgram(home, ['history', '--json'])).stdout).toContain('\u009b2J');
    expect((await runProgram(home, ['history', '--md'])).stdout).toContain(HOSTILE);
  });
});
