import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chatgptConversation, claudeCodeLines, jsonLines, type Talk, zip } from '../support/exports.js';
import { type Home, makeHome, type RunOptions, runProgram } from '../support/program.js';
import { type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';
import { canTrace, straced } from '../support/strace.js';
import { itWhere } from '../support/where.js';

let server: ScriptedServer;
let home: Home;

const hi = (args: readonly string[], options?: RunOptions) => runProgram(home, args, options);

beforeEach(async () => {
  server = await startScriptedServer(() => ({ text: 'ok' }));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
});

afterEach(async () => {
  await server.close();
  home.remove();
});

const talk = (id: string, year: number): Talk => ({
  id,
  title: id,
  lines: [
    { role: 'user', text: `What about ${id}?`, at: Date.UTC(year, 2, 1) / 1000 },
    { role: 'assistant', text: `A lot about \x1b[31m${id}.`, at: Date.UTC(year, 2, 1) / 1000 + 60 },
  ],
});

/** Writes an export of ChatGPT, as it is downloaded. */
function download(...talks: readonly Talk[]): void {
  const content = JSON.stringify(talks.map((one) => chatgptConversation(one)));
  writeFileSync(join(home.work, 'export.zip'), zip([{ name: 'conversations.json', content }]));
}

const books = (): readonly string[] => readdirSync(join(home.data, 'imports'));

describe('hi import', () => {
  it('makes a book, says what is in it, leaves the conversation alone, and asks no server', async () => {
    await hi(['ask', 'mine']);
    const before = readFileSync(home.historyFile);
    download(talk('boats', 2025), talk('kites', 2024));
    expect(await hi(['import', 'export.zip'])).toEqual({
      ...{ status: 0, stderr: '' },
      stdout:
        'ChatGPT: 2 conversations, 4 messages, Mar 2024 – Mar 2025; 4 are new. Left out: 4 messages of other branches, 2 hidden messages and instructions.\n',
    });
    expect((await hi(['import', 'export.zip', '--json'])).stdout).toContain('"added": 0');
    expect((await hi(['import', '--list'])).stdout).toBe('chatgpt: 2 conversations, 4 messages, Mar 2024 – Mar 2025\n');
    expect(readFileSync(home.historyFile)).toEqual(before);
    expect(server.requests).toHaveLength(1);
    expect(await hi(['import', '--remove', 'chatgtp', '-y'])).toMatchObject({ status: 2 });
    expect(await hi(['import', '--remove', 'chatgpt', '-y'])).toMatchObject({ status: 0 });
    expect(books()).toEqual([]);
  });

  it('refuses what it does not know, and names what it knows', async () => {
    home.write('notes.txt', 'nothing');
    const { status, stderr } = await hi(['import', 'notes.txt']);
    expect([status, stderr]).toEqual([
      2,
      "hi: Nothing in 'notes.txt' is an export that hi knows.\n    It knows those of ChatGPT, Claude, Gemini, Claude Code, codex, Gemini CLI, pi, llm, Open WebUI, aichat, Markdown.\n",
    ]);
    expect(await hi(['import', 'gone.zip'])).toMatchObject({ status: 2 });
    expect(existsSync(join(home.data, 'imports'))).toBe(false);
  });

  it('without a path looks for what is on this machine, and imports nothing unasked; later takes in what is new', async () => {
    expect((await hi(['import'])).stderr).toContain('Nothing was found on this machine.');
    const folder = join(home.folder, '.claude', 'projects', '-work');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 's.jsonl'), jsonLines(claudeCodeLines(talk('boats', 2025))));
    expect(await hi(['import'])).toEqual({
      ...{ status: 0, stdout: '' },
      stderr:
        'Claude Code: 1 conversation, 3 messages, Mar 2025; 3 of it new. To import it, run: hi import claude-code\n',
    });
    expect(existsSync(join(home.data, 'imports'))).toBe(false);
    expect((await hi(['import', '--watch'])).stdout).toBe('');
    expect((await hi(['import', 'claude-code'])).stdout).toContain('3 are new');
    writeFileSync(join(folder, 't.jsonl'), jsonLines(claudeCodeLines(talk('kites', 2025))));
    expect((await hi(['import', '--watch'])).stdout).toContain(
      'Claude Code: 2 conversations, 6 messages, Mar 2025; 3 are new.',
    );
    expect(await hi(['import', '--watch'])).toEqual({ status: 0, stdout: '', stderr: '' });
    expect(await hi(['import', 'pi'])).toMatchObject({ status: 2 });
  });

  itWhere(canTrace, 'strace cannot be used here')('leaves a book as it was when it is killed', async () => {
    download(talk('boats', 2025));
    await hi(['import', 'export.zip']);
    const before = readFileSync(join(home.data, 'imports', 'chatgpt.json.zst'));
    download(talk('boats', 2025), talk('kites', 2024));
    await hi(['import', 'export.zip'], { under: straced({ at: 'rename', when: 1, does: 'kill' }) });
    expect(readFileSync(join(home.data, 'imports', 'chatgpt.json.zst'))).toEqual(before);
    expect((await hi(['import', 'export.zip'])).stdout).toContain('2 are new');
    expect(books()).toEqual(['chatgpt.json.zst', 'chatgpt.recall']);
  });
});

describe('hi export', () => {
  it('writes the conversation and the books, which hi reads again, and asks no server', async () => {
    await hi(['ask', 'mine']);
    download(talk('boats', 2025));
    await hi(['import', 'export.zip']);
    expect(await hi(['export', '--to', 'llm', 'out'])).toEqual({
      ...{ status: 0, stderr: '' },
      stdout: 'conversation: 1 conversation, 2 messages.\nchatgpt: 1 conversation, 2 messages.\n',
    });
    expect((await hi(['import', 'out'])).stdout).toContain('llm: 2 conversations, 4 messages');
    expect(await hi(['export', '--to', 'markdown', 'out'])).toMatchObject({ status: 2 });
    expect(await hi(['export', '--to', 'lm', 'other'])).toMatchObject({ status: 2 });
    expect((await hi(['export', 'other'])).stderr).toContain('hi export --to chatgpt-json|claude-code|llm|markdown');
    expect(existsSync(join(home.work, 'other'))).toBe(false);
    expect(server.requests).toHaveLength(1);
  });
});
