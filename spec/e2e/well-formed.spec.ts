import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { type Reply, type ScriptedServer, startScriptedServer } from '../support/scripted-server.js';

const LONE = /\\u[dD][89a-fA-F]/;

let server: ScriptedServer;
let home: Home;
const setUp = async (answer: (index: number) => Reply): Promise<void> => {
  server = await startScriptedServer((_, index) => answer(index));
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base });
};
afterEach(async () => {
  await server.close();
  home.remove();
});

const hi = (args: readonly string[]) => runProgram(home, args);
const stored = () => execFileSync('zstd', ['-dc', home.historyFile]).toString();

describe('half a surrogate pair from a model', () => {
  it('is U+FFFD in the history and in all output that is JSON', async () => {
    await setUp((index) =>
      index === 0
        ? { text: 'half \ud83d of it', calls: [{ name: 'read_file', args: { path: 'a\udc00', '\ud83dkey': 1 } }] }
        : { text: 'and \ude00 \\ud83d "\\" the rest \ud83d' },
    );
    const streamed = await hi(['ask', '--output-format', 'stream-json', 'go']);
    expect(streamed.status).toBe(0);
    expect(streamed.stdout).not.toMatch(/[^\\]\\u[dD][89a-fA-F]/);
    expect(JSON.parse(streamed.stdout.trim().split('\n').at(-1) ?? '').text).toBe(
      'and \ufffd \\ud83d "\\" the rest \ufffd',
    );
    const texts = JSON.parse(stored());
    expect(texts[1].content[0]).toEqual({ type: 'text', text: 'half \ufffd of it' });
    expect(texts[1].content[1].args).toEqual({ path: 'a\ufffd', '\ufffdkey': 1 });
    expect(texts.at(-1).content[0].text).toBe('and \ufffd \\ud83d "\\" the rest \ufffd');
    const all = await hi(['history', '--json']);
    expect(JSON.parse(all.stdout)).toEqual(texts);
    expect(stored().replaceAll('\\\\', '')).not.toMatch(LONE);
    const report = await hi(['ask', '--json', 'again']);
    expect(JSON.parse(report.stdout).text).toBe('and \ufffd \\ud83d "\\" the rest \ufffd');
  });

  it('followed by the other half in the next piece is one character', async () => {
    await setUp(() => ({ pieces: ['smile \ud83d', '\ude00 and \ud83d', '\ude01'] }));
    const { stdout } = await hi(['ask', '--output-format', 'stream-json', 'go']);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const said = lines.filter(({ type }) => type === 'text').map(({ text }) => text);
    expect(said.join('')).toBe('smile 😀 and 😁');
    expect(JSON.parse(stored()).at(-1).content[0].text).toBe('smile 😀 and 😁');
  });
});

describe('the recipe of the manual for editing the history', () => {
  const recipe = /```sh\n(zstd [^`]*mv [^`]*)```/.exec(
    readFileSync(resolve(import.meta.dirname, '../../docs/history-format.md'), 'utf8'),
  )?.[1];
  const run = () => spawnSync('bash', ['-c', recipe ?? 'false'], { cwd: home.data });

  it('edits', async () => {
    await setUp(() => ({ text: 'ok' }));
    mkdirSync(home.data);
    const elements = [1, 101].map((id) => ({ id, turn: id, at: '2026-01-01T00:00:00Z', role: 'user', content: [] }));
    writeFileSync(home.historyFile, execFileSync('zstd', ['-c'], { input: JSON.stringify(elements) }));
    expect(run().status).toBe(0);
    expect(JSON.parse(stored())).toEqual(elements.slice(1));
  });

  it.each([
    ['refuses', '[{"id":101,"text":"\\ud83d"},{"id":102'],
    ['cannot read', null],
  ])('leaves the file unchanged if one of its programs %s it', async (_, text) => {
    await setUp(() => ({ text: 'ok' }));
    mkdirSync(home.data);
    const bytes = text === null ? Buffer.from('no zstd') : execFileSync('zstd', ['-c'], { input: text });
    writeFileSync(join(home.data, 'history.json.zst'), bytes);
    expect(run().status).not.toBe(0);
    expect(readFileSync(home.historyFile)).toEqual(bytes);
  });
});
