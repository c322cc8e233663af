import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { chatDriver } from '../support/chat.js';
import { type Home, makeHome, type RunOptions, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { KEY } from '../support/terminal.js';

type Call = { readonly name: string; readonly args: object };

let server: ScriptedServer;
let home: Home;

/** A model that makes these calls, one set a round, and then says that it is done. */
async function setUp(rounds: readonly (readonly Call[])[], tools: object = {}, more: object = {}): Promise<void> {
  server = await startScriptedServer((_request, index) => {
    const calls = rounds[index];
    return calls === undefined ? { text: 'done' } : { calls };
  });
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base, tools, ...more });
}

afterEach(async () => {
  await server?.close();
  home?.remove();
});

const hi = (args: readonly string[], options?: RunOptions) => runProgram(home, ['ask', ...args, 'go'], options);
const bash = (command: string): Call => ({ name: 'bash', args: { command } });

/** What the tools returned, as the last request has it. */
function results(): readonly string[] {
  const messages = server.requests.at(-1)?.messages ?? [];
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
}

describe('the tools of hi', () => {
  it('return the results that the model is promised', async () => {
    await setUp([
      [
        { name: 'write_file', args: { path: 'new/plain.txt', content: 'one\ntwo\nthree\n' } },
        { name: 'edit_file', args: { path: 'new/plain.txt', old: 'two', new: '2' } },
        { name: 'read_file', args: { path: 'new/plain.txt', offset: 2, limit: 1 } },
        { name: 'list_files', args: { path: '.' } },
        bash('echo out; echo err >&2; exit 3'),
      ],
    ]);
    expect((await hi(['-y'])).status).toBe(0);
    expect(results().map((result) => JSON.parse(result))).toEqual([
      { success: true, created: true },
      { success: true, line: 2 },
      { content: '2\n', total_lines: 3, truncated: true, next_offset: 3, note: 'Use offset=3 to continue.' },
      { entries: ['new/'] },
      { stdout: 'out\n', stderr: 'err\n', exit_code: 3 },
    ]);
  });

  it('report the folder in which a command ended, even if it ended quickly', async () => {
    await setUp(Array.from({ length: 12 }, () => [bash('cd sub; echo in'), bash('cd ..; echo out')]));
    mkdirSync(join(home.work, 'sub'));
    expect((await hi(['-y'])).status).toBe(0);
    expect(results().map((result) => JSON.parse(result).working_folder)).toEqual(
      Array.from({ length: 12 }, () => [join(home.work, 'sub'), home.work]).flat(),
    );
  });

  it('give a command no key, and show none to the model, the screen or the history', async () => {
    await setUp([[bash('env > seen; cat key.txt')]], { env: ['NAMED'] }, { api_key: 'a-key-of-the-file-1' });
    const env = {
      HI_API_KEY: 'a-key-of-hi-alone-2',
      OPENAI_API_KEY: 'sk-of-openai-3',
      ANTHROPIC_API_KEY: 'a-key-of-anthropic-4',
      GEMINI_API_KEY: 'a-key-of-gemini-5',
      GOOGLE_API_KEY: 'a-key-of-google-6',
      GITHUB_TOKEN: 'a-token-7',
      ORDINARY: 'a-value-8',
      NAMED: 'a-value-9',
    };
    home.write('key.txt', `a-key-of-the-file-1 ${env.GEMINI_API_KEY} ghp_${'a1'.repeat(18)} and more\n`);
    const { stdout, stderr } = await hi(['-y'], { env });
    const seen = readFileSync(join(home.work, 'seen'), 'utf8');
    expect(seen).toContain('NAMED=a-value-9');
    expect(seen).not.toMatch(/(-[1-6]|a-token-7|a-value-8)$/m);
    expect(results()[0]).toContain(' and more');
    const stored = execFileSync('zstd', ['-dc', home.historyFile]).toString();
    for (const place of [stdout, stderr, stored, JSON.stringify(server.requests)])
      expect(place).not.toMatch(/a-key-of|ghp_/);
  });

  it('do nothing that a rule denies, even with -y', async () => {
    const permissions = { allow: ['bash'], ask: [], deny: ['bash(touch:*)', 'write_file(shut/*)'] };
    await setUp([[bash('true && touch ran'), { name: 'write_file', args: { path: 'shut/x', content: '' } }]], {
      permissions,
    });
    await hi(['-y']);
    expect(results()).toEqual([
      expect.stringContaining("the rule 'bash(touch:*)' forbids it"),
      expect.stringContaining("the rule 'write_file(shut/*)' forbids it"),
    ]);
    expect(readdirSync(home.work)).toEqual([]);
  });

  it('run nothing without the configured sandbox', async () => {
    await setUp([[bash('echo a > ran')]], { sandbox: true });
    // Without any program to be found there is no bubblewrap.
    expect((await hi(['-y'], { env: { PATH: home.work } })).status).toBe(0);
    expect(results()).toEqual([
      expect.stringMatching(/bubblewrap cannot be used here: it is not installed.*apt install/),
    ]);
    expect(existsSync(join(home.work, 'ran'))).toBe(false);
  });

  it('stop an endless loop, with a message to user and model', async () => {
    await setUp(
      Array.from({ length: 9 }, (_, round) => [bash(`echo ${round}`)]),
      { max_rounds: 2 },
    );
    const { stdout, stderr } = await hi(['-y', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ stop_reason: 'tool_limit' });
    expect(stderr).toContain('2 rounds');
    expect(execFileSync('zstd', ['-dc', home.historyFile]).toString()).toContain('Not run');
    expect(server.requests).toHaveLength(2);
  });

  it('point out a call that fails for the third time', async () => {
    const missing: Call = { name: 'read_file', args: { path: 'missing.txt' } };
    await setUp([[missing], [missing], [missing]]);
    await hi([]);
    const [first, second, third = ''] = results();
    expect(second).toBe(first);
    expect(third).toMatch(/three times|3 times/);
  });
});

describe('a command in hi chat', () => {
  const start = chatDriver();

  it('shows its output dimmed, leaves the terminal intact and no process running', async () => {
    const command = [
      `printf '\\033[?1049h\\033[?25l\\033[31mred\\033]0;title\\007 nul\\0 end\\n'`,
      "setsid bash -c 'exec -a left-behind-417 sleep 600' & ",
      'yes | head -c 3000000',
    ].join('\n');
    const permissions = { allow: ['bash'], ask: [], deny: [] };
    const chat = await start((_request, index) => (index === 0 ? { calls: [bash(command)] } : { text: 'all done' }), {
      tools: { permissions },
    });
    await chat.open();
    chat.terminal.type(`go${KEY.enter}`);
    await chat.until(/all done\n+hi> *$/);
    expect(chat.terminal.look('nul␀ end').dim).toBe(true);
    expect(chat.terminal.written()).not.toMatch(/\x1b\[\?1049h|\x1b\[31mred|\x1b\]0;title/);
    expect(chat.terminal.transcript()).toMatch(/… [\d.]+[kM]? more lines/);
    expect(commandLines().filter((line) => line.startsWith('left-behind-417'))).toEqual([]);
    await chat.say('and again', 'all done');
  });
});

function commandLines(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      } catch {
        return '';
      }
    });
}
