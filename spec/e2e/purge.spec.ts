import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { png } from '../support/pictures.js';
import { type Home, makeHome, type RunOptions, runProgram } from '../support/program.js';
import { type Reply, type ScriptedServer, type SentRequest, startScriptedServer } from '../support/scripted-server.js';

let server: ScriptedServer;
let home: Home;

async function setUp(answer: (request: SentRequest, index: number) => Reply, more: object = {}): Promise<void> {
  server = await startScriptedServer(answer);
  home = makeHome({ provider: 'openai', model: 'scripted', api_base: server.base, ...more });
}

const hi = (args: readonly string[], options?: RunOptions) => runProgram(home, args, options);

afterEach(async () => {
  await server?.close();
  home?.remove();
});

/** Names like those `hi` makes, but not quite. */
const STRANGE = [
  'thesis.txt',
  'history.damaged-by-bob.txt',
  'history.new.txt',
  'my.stdout',
  'notes.json',
  'skills.json.bak',
  'abc.json',
  `${'f'.repeat(64)}.png`,
];

/** Puts a stranger's files into every folder under `top` that is there, and returns their paths. */
function strangersIn(top: string): readonly string[] {
  const folders = readdirSync(top, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  return [top, ...folders].flatMap((folder) =>
    STRANGE.map((name) => {
      const path = join(folder, name);
      writeFileSync(path, 'mine');
      return path;
    }),
  );
}

describe('hi reset --purge', () => {
  it.each(['apart', 'one folder'])('removes what hi made and nothing else, the folders %s', async (folders) => {
    await setUp((request) =>
      request.messages.at(-1)?.role === 'user' && (request.tools?.length ?? 0) > 0
        ? { calls: [{ name: 'bash', args: { command: 'seq 100000' } }] }
        : { text: 'secret answer' },
    );
    const env: Record<string, string> =
      folders === 'apart' ? {} : { HI_DATA_DIR: home.config, HI_CACHE_DIR: home.config };
    const { data, cache } =
      folders === 'apart'
        ? { data: home.data, cache: join(home.folder, 'cache') }
        : { data: home.config, cache: home.config };
    const configText = readFileSync(home.configFile, 'utf8');
    mkdirSync(join(home.config, 'skills'));
    writeFileSync(join(home.config, 'skills', 'a.md'), 'a secret skill');
    writeFileSync(join(home.work, 'a.png'), png());
    expect(await hi(['--debug', '-y', 'ask', '-f', 'a.png', 'secret question'], { env })).toMatchObject({ status: 0 });
    // The whole output, and the empty file that the sandbox hides files with.
    expect(readdirSync(join(cache, 'outputs'))).toHaveLength(2);
    mkdirSync(join(cache, 'compressions'), { recursive: true });
    writeFileSync(join(cache, 'compressions', `${'a'.repeat(64)}.json`), 'secret');
    writeFileSync(join(cache, 'compressions', `${'a'.repeat(64)}.json.77.new`), 'secret');
    writeFileSync(join(data, 'input-history.jsonl'), '"secret"');
    writeFileSync(join(data, 'history.damaged-2026-01-01T00-00-00.json.zst'), 'secret');
    writeFileSync(join(data, 'history.new.abc.77.77'), 'secret');
    const strangers = strangersIn(home.folder);
    expect(await hi(['reset', '-y', '--purge'], { env })).toMatchObject({
      status: 0,
      stderr: 'Cleared 4 messages. No copy is kept.\n',
    });
    expect(strangers.filter((path) => !existsSync(path))).toEqual([]);
    expect(readFileSync(home.configFile, 'utf8')).toBe(configText);
    expect(readFileSync(join(home.config, 'skills', 'a.md'), 'utf8')).toBe('a secret skill');
    const left = readdirSync(home.folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    const expected = [...strangers, home.configFile, join(home.config, 'skills', 'a.md'), join(home.work, 'a.png')];
    expect(left.sort()).toEqual(expected.sort());
  });

  it('leaves none of its folders empty', async () => {
    await setUp(() => ({ text: 'ok' }));
    home.compileAnew();
    await hi(['--debug', 'ask', 'x']);
    await hi(['reset', '-y', '--purge']);
    expect(existsSync(join(home.folder, 'cache'))).toBe(false);
    expect(readdirSync(home.data)).toEqual([]);
  });

  it("empties the target of a user's link, and leaves the link", async () => {
    await setUp(() => ({ text: 'ok' }));
    mkdirSync(home.data, { recursive: true });
    writeFileSync(join(home.folder, 'synced'), '"secret"\n');
    symlinkSync('../synced', join(home.data, 'input-history.jsonl'));
    await hi(['reset', '-y', '--purge']);
    expect(statSync(join(home.data, 'input-history.jsonl')).size).toBe(0);
    expect(readdirSync(home.data)).toEqual(['input-history.jsonl']);
  });

  it('removes what a linked history refers to, and says what a hard link keeps', async () => {
    await setUp(() => ({ text: 'ok' }));
    await hi(['ask', 'x']);
    const synced = join(home.folder, 'synced.zst');
    renameSync(home.historyFile, synced);
    symlinkSync(synced, home.historyFile);
    expect((await hi(['reset', '-y', '--purge'])).stderr).toBe('Cleared 2 messages. No copy is kept.\n');
    expect(statSync(synced).size).toBeLessThan(20);
    await hi(['ask', 'x']);
    linkSync(synced, join(home.folder, 'backup.zst'));
    const { stderr } = await hi(['reset', '-y', '--purge']);
    expect(stderr).toContain('hard link');
    expect(stderr).toMatch(/^Cleared 2 messages\.$/m);
  });

  it('refuses a dangling link in place of the history, like every command', async () => {
    await setUp(() => ({ text: 'ok' }));
    mkdirSync(home.data, { recursive: true });
    symlinkSync('/nowhere/history.json.zst', home.historyFile);
    for (const command of [
      ['ask', 'x'],
      ['status'],
      ['reset', '-y'],
      ['reset', '-y', '--purge'],
      ['reset', '--undo'],
    ]) {
      const { status, stderr } = await hi(command);
      expect(stderr).toContain("is a link to '/nowhere/history.json.zst', which does not exist.");
      expect(status).toBe(7);
    }
    expect(lstatSync(home.historyFile).isSymbolicLink()).toBe(true);
  });
});
