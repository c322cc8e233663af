import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { Message } from '../../lib/chat/message.js';
import { strategies } from '../../lib/compaction/index.js';
import { message, store } from '../support/compacting.js';
import { type Home, makeHome, type RunOptions, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { itOnNode } from '../support/where.js';

/** What stands in an SDK's code and nowhere else. */
const SDK_MARKS = {
  openai: /OPENAI_ORG_ID/,
  anthropic: /anthropic-dangerous-direct-browser-access/,
  gemini: /GOOGLE_GENAI_USE_VERTEXAI/,
  ollama: /ollama-js\//,
};

let server: ScriptedServer;
let home: Home;

const hi = (args: readonly string[], options?: RunOptions) => runProgram(home, args, options);

/** A home with that many finished turns. */
async function talk(turns: number, more: object = {}): Promise<void> {
  server = await startScriptedServer((_request, index) => ({ text: `answer ${turns + index + 1}` }));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base, ...more });
  if (turns > 0) store(home, said(turns));
}

/** What the program writes for such turns. */
function said(turns: number): readonly Message[] {
  return Array.from({ length: turns }, (_, index): readonly Message[] => {
    const turn = 2 * index + 1;
    const text = (words: string): Message['content'] => [{ type: 'text', text: `${words} ${index + 1}` }];
    return [
      { ...message(turn, turn, 'user'), content: text('question') },
      {
        ...message(turn + 1, turn, 'assistant'),
        content: text('answer'),
        provider: 'openai',
        model: 'scripted',
        stop_reason: 'end',
      },
    ];
  }).flat();
}

afterEach(async () => {
  await server?.close();
  home?.remove();
});

describe('hi chat without a terminal', () => {
  it('sends each line as a turn, without prompt and colour', async () => {
    await talk(0);
    const run = await hi(['chat'], { input: 'one\n\ntwo\n' });
    expect(run.status).toBe(0);
    expect(run.stdout).toBe('answer 1\n\nanswer 2\n');
    expect(run.stdout + run.stderr).not.toMatch(/\x1b|hi>/);
  });

  it('runs slash commands, does not let commands read the script, and says what needs a terminal', async () => {
    await talk(1);
    const run = await hi(['chat'], {
      input: '!cat; echo kept\n!!cat; echo private\n/copy\n/nonsense\n//two\n/quit\nnever\n',
      env: { WAYLAND_DISPLAY: '', DISPLAY: '' },
    });
    expect(run.stdout.replaceAll('\n', ' ')).toMatch(/^kept +private +answer 2 +$/);
    expect(run.stderr).toContain('no clipboard program works, and there is no terminal');
    expect(run.stderr).toContain("Unknown command 'nonsense'");
    expect(run.stdout + run.stderr).not.toMatch(/\x1b|hi>/);
    const sent = server.requests.at(-1)?.messages.map(({ content }) => content);
    expect(sent?.at(-1)).toMatch(/\n\/two$/);
    expect(JSON.stringify(sent)).toContain('kept');
    expect(JSON.stringify(sent)).not.toContain('private');
  });

  it('resets with -y, and overwrites an existing file when exporting', async () => {
    await talk(1);
    home.write('out.md', 'old');
    const run = await hi(['chat', '-y'], { input: '/export out.md\n/reset\n' });
    expect(run).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(join(home.work, 'out.md'), 'utf8')).toContain('question 1');
    expect(run.stdout).toContain('Cleared 2 messages.');
    expect(existsSync(home.historyFile)).toBe(false);
  });

  it('does nothing without -y where it would ask, and says what works', async () => {
    await talk(1);
    home.write('out.md', 'old');
    const before = readFileSync(home.historyFile);
    for (const [line, alternative] of [
      ['/reset', "'/reset -y'"],
      ['/export out.md', 'name a file that does not exist yet'],
    ] as const) {
      const run = await hi(['chat'], { input: `${line}\n` });
      expect(run.status).toBe(2);
      expect(run.stderr).toContain('Cannot ask without a terminal');
      expect(run.stderr).toContain("'hi chat -y' answers yes");
      expect(run.stderr).toContain(alternative);
    }
    expect(readFileSync(join(home.work, 'out.md'), 'utf8')).toBe('old');
    expect(readFileSync(home.historyFile).equals(before)).toBe(true);
  });
});

describe('the folders', () => {
  it('may not be relative in HI_CONFIG_DIR, HI_DATA_DIR and HI_CACHE_DIR, but the file of --config may be', async () => {
    await talk(0);
    for (const name of ['HI_CONFIG_DIR', 'HI_DATA_DIR', 'HI_CACHE_DIR']) {
      const relative = await hi(['config', 'path'], { env: { [name]: 'relative/folder' } });
      expect(relative).toMatchObject({ status: 3, stdout: '' });
      expect(relative.stderr).toContain(`${name} is not an absolute path: 'relative/folder'`);
    }
    expect((await hi(['config', 'path', '--config', 'mine.json'])).status).toBe(0);
  });

  // Bun takes the home of the account where HOME is empty.
  itOnNode('are never in the working folder: an empty HOME is an error', async () => {
    await talk(0);
    const env = { HOME: '', HI_CONFIG_DIR: '', HI_DATA_DIR: '', HI_CACHE_DIR: '', XDG_DATA_HOME: '' };
    const run = await hi(['status'], { env });
    expect(run.status).toBe(3);
    expect(run.stderr).toMatch(/is not an absolute path: HOME.*\n +Set HOME, or HI_CONFIG_DIR/);
  });
});

describe('hi history', () => {
  it('prints the transcript, the last messages, and those that contain a text', async () => {
    await talk(3);
    const whole = (await hi(['history'])).stdout;
    for (const words of ['question 1', 'answer 1', 'question 3', 'answer 3']) expect(whole).toContain(words);
    const last = (await hi(['history', '-n', '2'])).stdout;
    expect(last).toContain('question 3');
    expect(last).not.toContain('answer 2');
    expect((await hi(['history', '--find', 'ANSWER 2'])).stdout).toContain('answer 2');
    expect((await hi(['history', '--find', 'answer 2'])).stdout).not.toContain('answer 1');
    expect((await hi(['history', '--md'])).stdout).toMatch(/^## you/m);
    expect(await hi(['history', '--find', 'no such'])).toMatchObject({
      status: 0,
      stdout: '',
      stderr: "No message contains 'no such'.\n",
    });
  });

  it('finds the same messages by --find as /find in the chat, by their text and not their headings', async () => {
    await talk(2);
    home.write('long.txt', `${'x '.repeat(500)}needle`);
    const counts = { QUESTION: 2, 'question 2': 1, needle: 1, you: 0, scripted: 0, 2026: 0 };
    const lines = Object.keys(counts).map((text) => `!!echo ---\n/find ${text}\n`);
    await hi(['chat', '-y'], { input: '!cat long.txt\n' });
    const { stdout } = await hi(['chat'], { input: lines.join('') });
    const found = stdout.split('---\n').slice(1);
    for (const [at, [text, count]] of Object.entries(counts).entries()) {
      const printed = (await hi(['history', '--json', '--find', text])).stdout;
      const ids = found[at]?.split('\n').flatMap((line) => /^#(\d+) ·/.exec(line)?.[1] ?? []);
      expect([text, JSON.parse(printed).map(({ id }: { id: number }) => String(id))]).toEqual([text, ids]);
      expect([text, ids?.length]).toEqual([text, count]);
    }
  });

  it('prints the same JSON as the file, also one with the largest window of zstd, and goes on in it', async () => {
    await talk(0);
    await hi(['chat'], { input: 'one\ntwo\n' });
    const { stdout } = await hi(['history', '--json']);
    const input = execFileSync('zstd', ['-dc', home.historyFile]);
    expect(JSON.parse(stdout)).toEqual(JSON.parse(input.toString()));
    expect(JSON.parse(stdout)).toHaveLength(4);
    writeFileSync(home.historyFile, execFileSync('zstd', ['-c', '--long=31'], { input }));
    expect((await hi(['history', '--json'])).stdout).toBe(stdout);
    expect((await hi(['ask', 'more'])).status).toBe(0);
    expect(JSON.parse(execFileSync('zstd', ['-dc', '--long=31', home.historyFile]).toString())).toHaveLength(6);
  });

  it('is an empty array at the beginning', async () => {
    await talk(0);
    expect((await hi(['history', '--json'])).stdout).toBe('[]\n');
    expect((await hi(['history', '-n', 'x'])).status).toBe(2);
  });
});

describe('hi status', () => {
  it('prints the length and the share of the window in use, also as JSON', async () => {
    await talk(2, { context_window: 10_000 });
    const told = JSON.parse((await hi(['status', '--json'])).stdout);
    expect(told).toMatchObject({
      messages: 4,
      context_messages: 4,
      context_window: 10_000,
      compactions: 0,
      last_compaction: null,
    });
    expect(Object.keys(told)).toEqual([
      'messages',
      'context_messages',
      'estimated_tokens',
      'context_tokens',
      'context_window',
      'used',
      'compactions',
      'last_compaction',
      'files',
      'view',
      'next',
    ]);
    expect(told.estimated_tokens).toBe(Math.ceil((2 * ('question 1'.length + 'answer 1'.length)) / 4));
    expect((await hi(['status'])).stdout).toContain('4 kept, 4 in context');
  });

  it('works without a configuration', async () => {
    home = makeHome(null);
    server = await startScriptedServer(() => ({}));
    expect(await hi(['status'])).toMatchObject({ status: 0, stdout: expect.stringContaining('no model configured') });
  });
});

describe('hi compact', () => {
  it('completes its strategies, each with its description', async () => {
    home = makeHome(null);
    const { stdout } = await hi(['completion', 'words', '--', 'compact', '--strategy', '']);
    expect(stdout.split('\n')).toEqual([...strategies.map(({ name, summary }) => `${name}\t${summary}`), '']);
  });

  it('truncates twenty messages to the newest ten', async () => {
    await talk(10);
    const run = await hi(['compact', '--strategy', 'truncate']);
    expect(run).toMatchObject({ status: 0, stdout: '' });
    expect(run.stderr).toMatch(/── 10 messages compacted · 10 kept · .* tokens ──/);
    expect(JSON.parse((await hi(['status', '--json'])).stdout)).toMatchObject({
      messages: 20,
      context_messages: 10,
      compactions: 1,
    });
    await hi(['ask', 'next']);
    const sent = server.requests.at(-1)?.messages.map(({ content }) => content);
    expect(sent).toHaveLength(11);
    expect(sent?.[0]).toBe('question 6');
    expect((await hi(['history'])).stdout).toMatch(/answer 5\n\n── 10 messages compacted.*\n\nyou · .*\nquestion 6\n/);
  });

  it('says that there is nothing to compact, and names the nearest strategy for a misspelt one', async () => {
    await talk(1);
    expect(await hi(['compact', '--strategy', 'replace', '--json'])).toMatchObject({ status: 0 });
    home.remove();
    home = makeHome({ provider: 'openai', model: 'm', api_base: server.base });
    expect((await hi(['compact'])).stderr).toContain('nothing to compact');
    const mistyped = await hi(['compact', '--strategy', 'truncat']);
    expect(mistyped.status).toBe(2);
    expect(mistyped.stderr).toContain("'truncate'");
  });

  it('happens automatically at 80 % of the window', async () => {
    server = await startScriptedServer((_request, index) => ({ text: `${index} `.padEnd(2000, 'x') }));
    home = makeHome({
      provider: 'openai',
      model: 'm',
      api_base: server.base,
      context_window: 3000,
      tools: { enabled: false },
      compaction: { strategy: 'truncate' },
    });
    const input = Array.from({ length: 6 }, (_, index) => `${index} `.padEnd(400, 'y')).join('\n');
    const run = await hi(['chat'], { input });
    expect(run.stderr).toMatch(/── \d+ messages compacted/);
    const sizes = server.requests.map(
      ({ messages }) => JSON.stringify(messages.map(({ content }) => content)).length / 4,
    );
    expect(Math.max(...sizes)).toBeLessThan(0.85 * 3000);
    expect(JSON.parse((await hi(['status', '--json'])).stdout).compactions).toBeGreaterThan(0);
  });
});

describe('hi reset', () => {
  it('refuses if nobody can be asked, and clears with -y', async () => {
    await talk(1);
    const refused = await hi(['reset', '--purge']);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain('hi reset --purge -y');
    expect(existsSync(home.historyFile)).toBe(true);
    expect((await hi(['reset', '-y'])).status).toBe(0);
    expect(existsSync(home.historyFile)).toBe(false);
    await hi(['ask', 'fresh']);
    expect(server.requests.at(-1)?.messages.map(({ content }) => content)).toEqual(['fresh']);
  });

  it('restores the conversation with --undo, unless it was purged', async () => {
    await talk(2);
    await hi(['reset', '-y']);
    expect((await hi(['reset', '--undo'])).status).toBe(0);
    expect((await hi(['history'])).stdout).toContain('answer 2');
    await hi(['reset', '-y', '--purge']);
    expect((await hi(['reset', '--undo'])).status).toBe(7);
    expect(existsSync(home.data) ? readdirSync(home.data).filter((name) => name.includes('history.json')) : []).toEqual(
      [],
    );
  });
});

describe('hi config', () => {
  it('prints the settings with the key masked', async () => {
    server = await startScriptedServer(() => ({}));
    home = makeHome({ provider: 'openai', model: 'm', api_key: 'sk-a-very-secret-key-9876', context_window: 9000 });
    const { stdout } = await hi(['config', 'show']);
    expect(JSON.parse(stdout)).toMatchObject({
      provider: 'openai',
      model: 'm',
      api_key: '…9876',
      context_window: 9000,
      compaction: { keep_recent: 6 },
    });
    expect(stdout).not.toContain('very-secret');
  });

  it('prints the paths and the schema', async () => {
    server = await startScriptedServer(() => ({}));
    home = makeHome(null);
    expect(JSON.parse((await hi(['config', 'path', '--json'])).stdout)).toMatchObject({
      config_file: home.configFile,
      history: home.historyFile,
    });
    expect(JSON.parse((await hi(['config', 'schema'])).stdout).properties.provider.enum).toEqual(
      expect.arrayContaining(['openai', 'anthropic', 'gemini', 'ollama']),
    );
  });

  it('checks every part, and with --live makes one small call', async () => {
    server = await startScriptedServer(() => ({ text: 'ready' }));
    home = makeHome({ provider: 'openai', model: 'm', api_base: server.base });
    const run = await hi(['config', 'check', '--live']);
    expect(run.status).toBe(0);
    expect(run.stdout).toMatch(/ok\s+answer: "ready"/);
    expect(server.requests).toHaveLength(1);
    expect(existsSync(home.historyFile)).toBe(false);
    home.writeConfig('{"provider":"openai"}');
    const broken = await hi(['config', 'check']);
    expect(broken.status).toBe(3);
    expect(broken.stdout).toMatch(/fail\s+key/);
  });
});

describe('the program', () => {
  it('prints its version and its help', async () => {
    server = await startScriptedServer(() => ({}));
    home = makeHome(null);
    expect((await hi(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const help = await hi(['--help']);
    expect(help).toMatchObject({ status: 0, stderr: '' });
    for (const word of [
      'chat',
      'ask',
      'reset',
      'compact',
      'history',
      'status',
      'skills',
      'config',
      '--model',
      '--ephemeral',
    ]) {
      expect(help.stdout).toContain(word);
    }
  });

  // Node lists every script it loaded in its coverage.
  itOnNode('loads no vendor SDK for --version and reset, and one for ask', async () => {
    await talk(0);
    const loaded = async (args: readonly string[]): Promise<readonly string[]> => {
      const folder = mkdtempSync(join(home.folder, 'coverage-'));
      await hi(args, { env: { NODE_V8_COVERAGE: folder } });
      const { result } = JSON.parse(readFileSync(join(folder, readdirSync(folder)[0] ?? ''), 'utf8'));
      const scripts: readonly { url: string }[] = result;
      const texts = scripts
        .filter(({ url }) => url.includes('/dist/'))
        .map(({ url }) => readFileSync(fileURLToPath(url), 'utf8'));
      return Object.entries(SDK_MARKS).flatMap(([sdk, mark]) => (texts.some((text) => mark.test(text)) ? [sdk] : []));
    };
    expect(await loaded(['--version'])).toEqual([]);
    expect(await loaded(['reset', '-y'])).toEqual([]);
    expect(await loaded(['ask', 'x'])).toEqual(['openai']);
  });
});
