import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Home, makeHome, runProgram } from '../support/program.js';
import { chatServer, type VendorServer } from '../support/vendor-server.js';
import { type Dialect, dialects } from '../support/vendors.js';

const ARGS = { path: 'a.txt', content: 'half of it' };

let home: Home;
afterEach(() => home?.remove());

function homeFor(dialect: Dialect, server: VendorServer, tools: object = {}): Home {
  home = makeHome({
    provider: dialect.provider,
    model: 'scripted',
    api_key: 'a-key-0123456789',
    api_base: `${server.url}${dialect.path}`,
    openai: dialect.settings.options ?? {},
    tools,
  });
  return home;
}

const stored = () => JSON.parse(execFileSync('zstd', ['-dc', home.historyFile]).toString());

describe.each(dialects.map((dialect) => [dialect.title, dialect] as const))(
  'a tool call of %s that the length limit cuts',
  (_, dialect) => {
    const cut = dialect.cutCall('Let me write.', 'write_file', ARGS);

    it('ends the turn if it is cut again: two requests, both reported, and the text is kept', async () => {
      await using server = await chatServer(cut);
      const run = await runProgram(homeFor(dialect, server), ['ask', '-y', '--json', 'write']);
      expect(run.status).toBe(0);
      expect(server.requests).toHaveLength(2);
      expect(JSON.stringify(server.requests[1]?.body)).toMatch(
        /Not run: your answer reached the output limit.*smaller calls/,
      );
      expect(JSON.parse(run.stdout)).toMatchObject({
        text: 'Let me write.',
        stop_reason: 'length',
        tool_calls: [
          { name: 'write_file', error: expect.stringContaining('the output limit') },
          { name: 'write_file', error: expect.stringContaining('the output limit') },
        ],
      });
      expect(run.stderr).toMatch(
        /output limit in the middle of a call to write_file.*is asked to work in smaller steps/,
      );
      expect(run.stderr).toContain("Stopped: the answer reached the model's output limit");
      expect(existsSync(join(home.work, 'a.txt'))).toBe(false);
      expect(stored().at(-1)).toMatchObject({ role: 'assistant', content: [], stop_reason: 'length' });
    });

    it('makes the model work in smaller steps', async () => {
      const whole = dialect.tools({ name: 'write_file', args: { path: 'a.txt', content: 'a part' } });
      await using server = await chatServer(cut, whole, dialect.text('Done.'));
      const run = await runProgram(homeFor(dialect, server), ['ask', '-y', '--json', 'write']);
      expect(JSON.parse(run.stdout)).toMatchObject({ text: 'Done.', stop_reason: 'end' });
      expect(server.requests).toHaveLength(3);
      expect(existsSync(join(home.work, 'a.txt'))).toBe(true);
    });

    it('leaves a usable conversation', async () => {
      await using server = await chatServer(cut, cut, dialect.text('Fine.'));
      await runProgram(homeFor(dialect, server), ['ask', '-y', 'write']);
      const run = await runProgram(home, ['ask', 'and now?']);
      expect(run).toMatchObject({ status: 0, stdout: 'Fine.\n' });
    });
  },
);

it('is reported if it happens in the last round', async () => {
  const [dialect] = dialects as [Dialect];
  await using server = await chatServer(dialect.cutCall('Text.', 'write_file', ARGS));
  const run = await runProgram(homeFor(dialect, server, { max_rounds: 1 }), ['ask', '-y', '--json', 'write']);
  expect(JSON.parse(run.stdout)).toMatchObject({ stop_reason: 'length', text: 'Text.' });
  expect(server.requests).toHaveLength(1);
});

describe('a tool call cut by a server that does not report it', () => {
  it('ends the turn the third time in a row', async () => {
    const dialect = dialects.find(({ title }) => title === 'OpenAI Chat Completions') ?? dialects[0];
    if (dialect === undefined) throw new Error('There is no dialect.');
    const { chunks = [], ...answer } = dialect.cutCall('Let me write.', 'write_file', ARGS);
    const silent = { ...answer, chunks: chunks.map((chunk) => `${chunk}`.replace('"length"', '"tool_calls"')) };
    await using server = await chatServer(silent);
    const run = await runProgram(homeFor(dialect, server), ['ask', '-y', '--json', 'write']);
    expect(run.status).toBe(0);
    expect(server.requests).toHaveLength(3);
    expect(JSON.parse(run.stdout)).toMatchObject({ stop_reason: 'tool_limit' });
    expect(run.stderr).toContain('Stopped: the model called write_file 3 times in a row');
    expect(existsSync(join(home.work, 'a.txt'))).toBe(false);
  });
});
