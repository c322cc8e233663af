import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Entry } from '../../lib/chat/entry.js';
import { asTokens } from '../../lib/chat/request.js';
import { historyPathsIn } from '../../lib/history/base/history-paths.js';
import { loadCodec } from '../../lib/history/file/codec.js';
import { replaceHistory } from '../../lib/history/repair/repair.js';
import { type Home, makeHome, PROGRAM, RUNTIME, runProgram } from '../support/program.js';
import { prose } from '../support/prose.js';

const MESSAGES = 6000;

/** A long conversation that was compacted, so that only its end is needed for the next request. */
function* conversation(): Generator<Entry> {
  const at = '2026-11-22T10:00:00.000Z';
  for (let id = 1; id <= MESSAGES; id += 1) {
    const content = [{ type: 'text', text: `message ${id}: ${prose(400, id)}` }] as const;
    if (id % 2 === 1) yield { id, turn: id, at, cwd: '/', role: 'user', content };
    else yield { id, turn: id - 1, at, cwd: '/', role: 'assistant', content, stop_reason: 'end' };
  }
  const [tokens_before, tokens_after] = [asTokens(100_000), asTokens(2000)];
  const counts = { first_kept: MESSAGES - 9, messages_compacted: MESSAGES - 10, messages_kept: 10 };
  const block = { type: 'compress', content: 'They talked.', strategy: 'summary', source: 'model' } as const;
  yield { id: MESSAGES + 1, at, ...block, ...counts, tokens_before, tokens_after };
}

let home: Home;
/** The file with one wrong byte in its middle, where only what reads the whole archive comes by. */
let damaged: Buffer;

const copies = (): readonly string[] => readdirSync(home.data).filter((name) => name.includes('damaged'));

beforeEach(() => {
  home = makeHome(null);
  mkdirSync(home.data);
  replaceHistory(loadCodec(), historyPathsIn(home.data), 'spec', conversation());
  damaged = readFileSync(home.historyFile);
  const middle = Math.floor(damaged.length / 2);
  damaged.writeUInt8(damaged.readUInt8(middle) ^ 0xff, middle);
  writeFileSync(home.historyFile, damaged);
});

afterEach(() => home.remove());

describe('the archive', () => {
  it.each(['--json', '--md', ''])(
    'is printed as it is read (%s): who wants its beginning never comes to its middle',
    async (form) => {
      const script = `"${RUNTIME}" "${PROGRAM}" history ${form} </dev/null | head -n 4; echo "\${PIPESTATUS[0]}"`;
      const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], { env: home.env });
      expect(stdout).toContain('message 1:');
      expect(stdout).toMatch(/\n0\n$/);
      expect(stderr).toBe('');
      expect(copies()).toEqual([]);
    },
  );

  it('is read from its end if only the newest messages are requested', async () => {
    const { status, stdout, stderr } = await runProgram(home, ['history', '-n', '20', '--json']);
    const numbers = JSON.parse(stdout).map(({ id }: Entry) => id);
    expect(numbers).toEqual(Array.from({ length: 21 }, (_, index) => MESSAGES - 19 + index));
    expect([status, stderr, copies()]).toEqual([0, '', []]);
  });

  it('is repaired when a reader finds damage, and the user is told', async () => {
    const { status, stdout, stderr } = await runProgram(home, ['history', '--json']);
    const numbers: readonly number[] = JSON.parse(stdout).map(({ id }: Entry) => id);
    expect(status).toBe(0);
    expect(numbers.length).toBeGreaterThan(MESSAGES - 600);
    expect(numbers.length).toBeLessThan(MESSAGES + 1);
    expect(numbers.at(-1)).toBe(MESSAGES + 1);
    expect(stderr).toContain('The history was damaged.');
    expect(copies().map((name) => readFileSync(`${home.data}/${name}`).equals(damaged))).toEqual([true]);
    expect((await runProgram(home, ['history', '--find', 'message 6000:'])).stderr).toBe('');
  });

  it('is read to its end by hi config check, which reports damage and changes nothing', async () => {
    const env = { OPENAI_API_KEY: 'k' };
    const { status, stdout } = await runProgram(home, ['config', 'check'], { env });
    expect(status).toBe(7);
    expect(stdout).toMatch(/^fail {3}history: '.*history\.json\.zst' is damaged: .*\n +.*hi history/m);
    expect(readFileSync(home.historyFile).equals(damaged)).toBe(true);
    await runProgram(home, ['history', '--json']);
    expect((await runProgram(home, ['config', 'check'], { env })).stdout).toMatch(
      /^ok +history: \d+ messages in '.*', all readable$/m,
    );
  });
});
