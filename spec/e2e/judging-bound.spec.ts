import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { attempt, bash, type Outcome } from '../support/attack.js';
import { type Home, makeHome, PROGRAM, RUNTIME } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { control, openTerminal, type Terminal } from '../support/terminal.js';

const SED = `sed 's/[${'[]'.repeat(60)}[/x/' notes.txt`;
const HOSTILE = [
  ['a sed script of brackets', SED],
  ['many of them in one word', `sed 's/[${'[]'.repeat(30_000)}[/x/' notes.txt`],
  ['nested substitutions', '$('.repeat(20_000)],
  ['nested substitutions in quotes', '"$('.repeat(10_000)],
  ['nested defaults', `echo ${'${a:-'.repeat(10_000)}`],
  ['process substitutions', '<('.repeat(20_000)],
  ['one long sum', `echo $((${'1+'.repeat(30_000)}1))`],
  ['many redirections', '>a '.repeat(20_000)],
  ['a long path', `cat ${'a/'.repeat(20_000)}`],
  ['more than 64 KiB', `echo ${'a'.repeat(70_000)}`],
] as const;

let outcome: Outcome | undefined;
let server: ScriptedServer;
let home: Home | undefined;
let terminal: Terminal | undefined;

afterEach(async () => {
  outcome?.home.remove();
  outcome = undefined;
  if (terminal === undefined) return;
  await terminal.close();
  terminal = undefined;
  await server.close();
  home?.remove();
});

describe('a command made to stall the judge', () => {
  it('is refused if nobody can be asked', async () => {
    outcome = await attempt({ calls: HOSTILE.map(([, command]) => bash(command)), deny: ['bash(rm:*)'] });
    expect(outcome.results).toHaveLength(HOSTILE.length);
    expect(outcome.results.filter((result) => /call stack|ENAMETOOLONG/.test(result))).toEqual([]);
    expect(outcome.pwned).toEqual([]);
  });

  it('is refused with the reason, and -y is not enough if a rule may deny it', async () => {
    const refused = [
      ['$('.repeat(20_000), 'it is nested too deeply to judge'],
      [`echo $((${'1+'.repeat(30_000)}1))`, 'it is nested too deeply to judge'],
      [`echo ${'a'.repeat(70_000)}`, 'it is longer than 64 KiB, too long to judge'],
      ['>a '.repeat(20_000), 'it has too many words to check'],
    ] as const;
    outcome = await attempt({ calls: refused.map(([command]) => bash(command)), deny: ['bash(rm:*)'], args: ['-y'] });
    expect(outcome.results).toEqual(
      refused.map(([, reason]) =>
        expect.stringContaining(`Not allowed: ${reason}, and the user cannot be asked here.`),
      ),
    );
  });

  it.each(HOSTILE)('does not keep Ctrl-C or a closed terminal from ending hi: %s', async (_name, command) => {
    server = await startScriptedServer(() => ({ calls: [bash(command)] }));
    home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
    terminal = openTerminal(RUNTIME, [PROGRAM, 'ask', 'go'], { env: home.env, cwd: home.work });
    while (server.requests.length === 0) await sleep(10);
    terminal.type(control('c'));
    expect((await terminal.exit()).status).toBe(130);
  });

  it('does not keep a signal from ending a chat', async () => {
    server = await startScriptedServer(() => ({ calls: [bash('>a '.repeat(20_000))] }));
    home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
    terminal = openTerminal(RUNTIME, [PROGRAM, 'chat'], { env: home.env, cwd: home.work });
    await terminal.until(/^hi> *$/m, 20_000);
    terminal.type('go\r');
    while (server.requests.length === 0) await sleep(10);
    terminal.hangUp();
    await terminal.exit();
  });
});
